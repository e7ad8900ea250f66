"use strict";
// The question browser. Everything from the data is set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const list = document.getElementById("questions");
const count = document.getElementById("count");
const more = document.getElementById("more");
const form = document.getElementById("filters");
const PAGE = 40;
const several = new Set(data.rows.map((row) => row.run)).size > 1;
let shown = PAGE;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function options(name, values) {
  const select = form.elements[name];
  for (const value of values) select.append(new Option(value, value));
}

function tone(outcome) {
  if (outcome === "right" || outcome === "refused") return "good";
  return outcome === "error" || outcome === "not answered" ? "none" : "bad";
}

function evidence(row) {
  const list = element("ul");
  for (const id of row.evidence) {
    const found = row.shown.includes(id);
    const text = (data.lines[row.sample] || {})[id];
    const item = element("li", found ? "good" : "bad", `${id} ${found ? "shown" : "missed"}`);
    if (text) item.append(element("span", "none", ` ${text}`));
    list.append(item);
  }
  return row.evidence.length ? list : element("span", "none", "the key names none");
}

function details(row) {
  const terms = element("dl");
  const add = (name, value) => {
    const cell = element("dd");
    cell.append(value instanceof Node ? value : document.createTextNode(value));
    terms.append(element("dt", "", name), cell);
  };
  add("Run", row.run);
  add("Gold", row.gold === null ? "(not in the conversation)" : row.gold);
  if (row.trap !== null) add("Trap", row.trap);
  add("Answer", row.answer === null ? row.error || "(none)" : row.answer);
  if (row.f1 !== null) add("F1", row.f1.toFixed(2));
  for (const verdict of row.verdicts) add(verdict.judge, `${verdict.label || "error"}: ${verdict.reason}`);
  add("Evidence", evidence(row));
  add("Shown", `${row.tokens} tokens`);
  if (row.flag) add("Audit", element("span", "flag", row.flag));
  return terms;
}

function entry(row) {
  const box = element("details");
  const head = element("summary");
  head.append(
    element("span", "where", `${several ? `${row.run}: ` : ""}${row.sample} #${row.index} ${row.category}`),
    element("span", "", row.question),
    element("span", tone(row.outcome), row.outcome)
  );
  if (row.flag) head.children[1].append(" ", element("span", "flag", "audit"));
  box.append(head);
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(details(row));
  });
  return box;
}

function matching() {
  const wanted = Object.fromEntries(new FormData(form));
  const words = wanted.words.toLowerCase();
  return data.rows.filter((row) =>
    ["run", "sample", "category", "outcome"].every((name) => !wanted[name] || row[name] === wanted[name]) &&
    (!form.elements.flagged.checked || row.flag) &&
    (!words || `${row.question} ${row.gold} ${row.answer}`.toLowerCase().includes(words)));
}

function draw() {
  const rows = matching();
  list.replaceChildren(...rows.slice(0, shown).map(entry));
  count.textContent = `${rows.length} of ${data.rows.length}`;
  more.hidden = rows.length <= shown;
}

for (const name of ["run", "sample", "category", "outcome"]) {
  options(name, [...new Set(data.rows.map((row) => row[name]))]);
}
form.addEventListener("input", () => { shown = PAGE; draw(); });
form.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", () => { shown += PAGE; draw(); });
draw();
