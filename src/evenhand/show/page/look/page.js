"use strict";
// Tables that sort: the header's words become a button; a click, Enter or Space sorts, once more turns it round.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) continue;
  const key = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent.trim() : parseFloat(given);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...[...body.rows].sort((a, b) => order(key(a, column), key(b, column), down)));
    });
  });
}
function order(x, y, down) {
  const missing = (value) => value === null || Number.isNaN(value);
  if (missing(x) || missing(y)) return missing(x) - missing(y); // no value stays last, either way
  const found = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
  return down ? -found : found;
}

// All items of a dataset: unpacked when they are first seen, then searched, filtered and sorted here.
const STEP = 20;
const made = (name, given = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), given);
  element.append(...inside);
  return element;
};
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
function marked(cell, text, other) {
  // What the two sentences do not share at their beginnings and ends, or the candidates for a blank, in bold.
  let from = 0;
  let to = text.length;
  if (other) {
    const [mine, theirs] = [text.split(" "), other.split(" ")];
    let a = 0;
    let z = 0;
    while (a < Math.min(mine.length, theirs.length) && mine[a] === theirs[a]) a++;
    while (z < Math.min(mine.length, theirs.length) - a && mine.at(-1 - z) === theirs.at(-1 - z)) z++;
    if (a + z) {
      from = mine.slice(0, a).join(" ").length;
      to = text.length - mine.slice(mine.length - z).join(" ").length;
    } else from = to;
  } else {
    from = text.indexOf("[");
    to = text.indexOf("]") + 1;
    if (from < 0 || to <= from || !text.slice(from, to).includes("/")) from = to = text.length;
  }
  cell.append(text.slice(0, from), ...(from < to ? [made("b", {}, text.slice(from, to))] : []), text.slice(to));
}
async function explore(place) {
  const { columns, texts: together, sort, lang } = await unpacked(place.querySelector("template").content.textContent.trim());
  const texts = columns.filter((column) => column.kind === "text");
  texts.forEach((column, place) => (column.rows = together.filter((_, number) => number % texts.length === place)));
  const n = columns[0].rows.length;
  const lower = texts.map((column) => column.rows.map((text) => text.toLowerCase()));
  const id = place.id;
  const state = { sort, down: true, shown: STEP };
  const search = made("input", { type: "search", id: `${id}-search` });
  const controls = made("div", { className: "controls" }, made("label", {}, "Search ", search));
  const filters = [];
  for (const column of columns.filter((column) => column.kind === "label")) {
    const choice = made("select", {}, made("option", { value: "-1" }, "all"));
    column.labels.forEach((label, number) => choice.append(made("option", { value: number }, label)));
    filters.push([column, choice]);
    controls.append(made("label", {}, `${column.name} `, choice));
  }
  const count = made("p", { className: "small" });
  count.setAttribute("role", "status");
  const head = made("tr");
  const body = made("tbody");
  const table = made("table", { className: "items" }, made("thead", {}, head), body);
  const more = made("button", { type: "button", className: "more" }, "Show more");
  columns.forEach((column, number) => {
    const button = made("button", { type: "button" }, column.name);
    const cell = made("th", { scope: "col", className: column.kind === "score" ? "n" : "" }, button);
    button.addEventListener("click", () => {
      state.down = state.sort === number ? !state.down : column.kind === "score";
      state.sort = number;
      draw(true);
    });
    head.append(cell);
  });
  let found = [];
  function draw(again) {
    if (again) {
      const wanted = search.value.trim().toLowerCase();
      const chosen = filters.map(([column, choice]) => [column.rows, Number(choice.value)]).filter(([, v]) => v >= 0);
      found = [];
      for (let row = 0; row < n; row++) {
        if (chosen.every(([rows, value]) => rows[row] === value) && (!wanted || lower.some((t) => t[row].includes(wanted))))
          found.push(row);
      }
      const { rows, labels } = columns[state.sort];
      const value = labels ? (row) => labels[rows[row]] : (row) => rows[row];
      found.sort((a, b) => order(value(a), value(b), state.down));
      state.shown = STEP;
      body.replaceChildren();
      [...head.cells].forEach((cell, number) => {
        if (number === state.sort) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      });
    }
    for (const row of found.slice(body.rows.length, state.shown)) body.append(line(row));
    const seen = Math.min(state.shown, found.length);
    count.textContent = `${seen.toLocaleString("en")} of ${found.length.toLocaleString("en")} shown, ${n.toLocaleString("en")} in all`;
    more.hidden = seen >= found.length;
  }
  function line(row) {
    const cells = columns.map((column) => {
      const value = column.rows[row];
      const cell = made("td", { className: column.kind === "score" ? "n" : "" });
      if (column.kind === "text") {
        if (lang) cell.lang = lang;
        marked(cell, value, texts.length > 1 ? (column === texts[0] ? texts[1] : texts[0]).rows[row] : "");
      } else if (column.kind === "label") cell.append(column.labels[value]);
      else cell.append(value === null ? "–" : (column.signed && value >= 0 ? "+" : "") + value.toFixed(2));
      return cell;
    });
    return made("tr", {}, ...cells);
  }
  search.addEventListener("input", () => draw(true));
  for (const [, choice] of filters) choice.addEventListener("change", () => draw(true));
  more.addEventListener("click", () => {
    state.shown += 5 * STEP;
    draw(false);
  });
  const scroll = made("div", { className: "scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", place.dataset.what);
  draw(true);
  place.replaceChildren(controls, count, scroll, more);
}
const sight = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    explore(target); // what stands there without a script stays if this fails
  }
});
for (const place of document.querySelectorAll(".explore")) sight.observe(place);

// The contents: folded on a phone, and what is read is marked.
const contents = document.querySelector("nav.contents details");
const wide = matchMedia("(min-width: 72rem)");
const phone = matchMedia("(max-width: 40rem)");
const fold = () => {
  if (contents) contents.open = wide.matches;
  for (const part of document.querySelectorAll("details.fold")) part.open = !phone.matches;
};
fold();
wide.addEventListener("change", fold);
phone.addEventListener("change", fold);
// What a link leads to is unfolded first.
const unfold = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details:not([open])");
  const inside = target && target.querySelector(":scope > details.fold:not([open])");
  for (const part of [folded, inside]) if (part) part.open = true;
  if (folded || inside) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
const links = new Map([...(contents ? contents.querySelectorAll("a") : [])].map((link) => [link.hash.slice(1), link]));
contents?.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});
let current = null;
const reading = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      current?.removeAttribute("aria-current");
      current = links.get(target.id);
      current.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-10% 0px -80% 0px" },
);
for (const id of links.keys()) reading.observe(document.getElementById(id));

// Paper cannot be unfolded.
const closed = [];
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details.fold:not([open]), #provenance details:not([open])")) {
    folded.open = true;
    closed.push(folded);
  }
});
addEventListener("afterprint", () => {
  for (const folded of closed.splice(0)) folded.open = false;
});
const printed = document.querySelector(".print-it");
if (printed) printed.hidden = false;
printed?.addEventListener("click", () => print());
