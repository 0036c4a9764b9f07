"use strict";
// The data of the page. All of it is untrusted: it only ever becomes text of the document.
const D = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes and children; strings become text. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** An element of a picture. */
function s(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  append(element, children);
  return element;
}

const number = n => Number(n).toLocaleString("en-US");
// Rounded as the summary of `pleach run` is, but only the whole is 100 %.
const percent = (part, whole) => whole ? `${(part < whole ? Math.min(Math.round(1000 * part / whole), 999) / 10 : 100).toFixed(1)} %` : "–";

function duration(seconds) {
  if (seconds < 10) return `${Math.round(seconds * 100) / 100} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round(seconds % 3600 / 60)} min`;
}

function meter(part, whole) {
  const bar = h("i");
  bar.style.width = `${whole ? 100 * part / whole : 0}%`;
  return h("span", { class: "meter", role: "img", "aria-label": percent(part, whole) }, bar);
}

// What the page shows survives a reload: it is kept in the entry of the history. Browsers allow
// only some changes of the history in a second, so it is written a little later.
const kept = Object.assign({}, history.state);
let unsaved = 0;
function keep(name, value) {
  kept[name] = value;
  if (!unsaved) unsaved = setTimeout(save, 300);
}
function save() {
  clearTimeout(unsaved);
  unsaved = 0;
  history.replaceState(Object.assign({}, kept), "");
}

/**
 * A table that can be sorted and, if it is long, paged.
 * columns: [{name, key: row => sortable, cell: row => child, num, text}]
 */
function table(id, columns, rows, options) {
  const { page = 200, sort = null, down = false } = options || {};
  const state = Object.assign({ column: sort, down, from: 0 }, kept[`table ${id}`]);
  const body = h("tbody"), pager = h("div", { class: "pager" });
  let shown = rows;
  const heads = columns.map((column, i) => {
    const click = () => {
      state.down = state.column === i ? !state.down : Boolean(column.num);
      state.column = i;
      state.from = 0;
      draw();
    };
    return h("th", { class: column.num ? "num" : null, scope: "col" },
      column.key ? h("button", { type: "button", onclick: click }, column.name) : column.name);
  });
  function order() {
    const key = state.column !== null && columns[state.column] && columns[state.column].key;
    if (!key) return shown;
    const keys = new Map(shown.map(row => [row, key(row)]));
    const direction = state.down ? -1 : 1;
    return [...shown].sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      return direction * (typeof x === "string" ? x.localeCompare(y) : x - y);
    });
  }
  function draw() {
    keep(`table ${id}`, Object.assign({}, state));
    heads.forEach((head, i) => {
      if (i === state.column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const sorted = order();
    if (state.from >= sorted.length) state.from = 0;
    body.replaceChildren(...sorted.slice(state.from, state.from + page).map(row =>
      h("tr", null, columns.map(column => {
        const kind = [column.num && "num", column.text && "text"].filter(Boolean).join(" ");
        return h("td", { class: kind || null }, column.cell(row));
      }))));
    const step = by => () => { state.from += by; draw(); };
    pager.replaceChildren();
    if (sorted.length > page) {
      append(pager, [
        h("button", { type: "button", onclick: step(-page), disabled: state.from === 0 }, "Back"),
        h("button", { type: "button", onclick: step(page), disabled: state.from + page >= sorted.length }, "More"),
        `${number(state.from + 1)}–${number(Math.min(state.from + page, sorted.length))} of ${number(sorted.length)}`,
      ]);
    }
  }
  draw();
  const element = h("div", null,
    h("div", { class: "scroll" }, h("table", { id }, h("thead", null, h("tr", null, heads)), body)), pager);
  element.filter = test => { shown = rows.filter(test); state.from = 0; draw(); };
  return element;
}

const base64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
