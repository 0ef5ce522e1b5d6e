// Forms answer on the spot: the same request that the browser would send, and of its answer the part named "result".
// Without this file everything works as well, a page at a time.
"use strict";

const AGAIN = 1000; // milliseconds before what was not ready is asked for again
const PAUSE = 200; // milliseconds after a key before a search is sent

for (const form of document.querySelectorAll("form[data-live]")) {
  let earlier = null;

  form.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (button && button.hasAttribute("formaction")) return; // leads to another page
    event.preventDefault();
    if (earlier) earlier.abort();
    earlier = new AbortController();
    const result = document.getElementById("result");
    result.setAttribute("aria-busy", "true");
    try {
      const answer = await send(form, earlier.signal);
      result.replaceChildren(...answer.childNodes);
      result.removeAttribute("aria-busy");
      later();
    } catch (error) {
      if (error.name === "AbortError") return;
      result.replaceChildren(said("The server does not answer. Is it still running?"));
      result.removeAttribute("aria-busy");
    }
  });

  // What the server was still reading is asked for again, unless somebody is at work in the list.
  let timer = 0;
  function later() {
    const result = document.getElementById("result");
    clearTimeout(timer);
    if (!result.querySelector("[data-again]")) return;
    timer = setTimeout(() => (result.contains(document.activeElement) ? later() : form.requestSubmit()), AGAIN);
  }
  later();

  for (const field of form.querySelectorAll("[data-type]")) {
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => form.requestSubmit(), PAUSE);
    });
  }
}

async function send(form, signal) {
  const fields = new URLSearchParams(new FormData(form));
  const get = form.method === "get";
  const address = get ? `${form.getAttribute("action")}?${fields}` : form.getAttribute("action");
  const response = await fetch(address, get ? { signal } : { method: "POST", body: fields, signal });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (get) history.replaceState(null, "", address);
  return page.getElementById("result") || page.body;
}

function said(text) {
  const line = document.createElement("p");
  line.className = "error";
  line.setAttribute("role", "alert");
  line.textContent = text;
  return line;
}
