// Tables that sort: the header's words become a button; a click, Enter or Space sorts, once more turns it round.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) continue;
  const key = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent.trim() : parseFloat(given);
  };
  const missing = (value) => typeof value === "number" && Number.isNaN(value);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows];
      rows.sort((a, b) => {
        const [x, y] = [key(a, column), key(b, column)];
        if (missing(x) || missing(y)) return missing(x) - missing(y); // no value stays last, either way
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
// What is folded is printed too, but for sentences that come with a warning.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not(.warned):not([open])")) {
    folded.open = true;
    folded.dataset.closed = "";
  }
});
addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("details[data-closed]")) {
    folded.open = false;
    delete folded.dataset.closed;
  }
});
