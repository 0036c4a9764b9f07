"use strict";

const VIEWS = D.kind === "compare" ? [["", "Comparison", comparison]] : [
  ["", "Overview", overview], ["files", "Source", files], ["functions", "Functions", functions],
  ["missing", "Not taken", missing], ["inputs", "Inputs", inputs], ["crashes", "Crashes", crashes],
  ...(D.grammar ? [["grammar", "Grammar", grammar]] : []),
];
const PARENTS = { file: "files", input: "inputs", crash: "crashes" };
const COUNTS = D.kind === "compare" ? {} : {
  files: () => D.files.length, functions: () => D.fns.length, inputs: () => D.inputs.length, crashes: () => D.crashes.length,
  missing: () => D.taken.reduce((a, i) => a + (i < 0), 0),
};

/** Shows the theme that the reader chose; the style sheet has that of the system. */
function theme() {
  if (kept.theme) document.documentElement.dataset.theme = kept.theme;
}

function route() {
  const [, name = "", a, b] = location.hash.split("/");
  const main = document.querySelector("main");
  let made;
  if (name === "file" && D.files && D.files[a]) made = sourceView(Number(a), Number(b) || 0);
  else if (name === "input") made = inputView(Number(a));
  else if (name === "crash") made = crashView(Number(a));
  else made = (VIEWS.find(view => view[0] === name) || VIEWS[0])[2](a);
  const later = made.filter(part => typeof part === "function");
  main.replaceChildren();
  append(main, made.filter(part => typeof part !== "function"));
  const current = PARENTS[name] || name;
  document.querySelectorAll("nav a").forEach(link => {
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  const isReload = kept.hash === location.hash;
  later.forEach(ready => ready());
  if (!isReload) { delete kept.code; delete kept.line; }
  scrollTo(0, isReload ? kept.scroll || 0 : 0);
  keep("hash", location.hash);
}

function start() {
  theme();
  const flip = () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    keep("theme", (kept.theme || system) === "dark" ? "light" : "dark");
    theme();
  };
  document.querySelector("#title").textContent = D.title;
  document.querySelector("#sub").textContent = D.sub;
  document.querySelector("#theme").addEventListener("click", flip);
  append(document.querySelector("nav"), VIEWS.map(([name, title]) =>
    h("a", { href: `#/${name}`, "data-view": name }, title, COUNTS[name] ? h("span", { class: "count" }, number(COUNTS[name]())) : null)));
  document.querySelector("footer").textContent = D.footer;
  if (D.kind !== "compare") index();
  history.scrollRestoration = "manual";
  addEventListener("beforeunload", save);
  addEventListener("hashchange", () => {
    // A new entry of the history starts with what the page knows, but at the top.
    if (history.state && history.state.hash === location.hash) Object.assign(kept, history.state);
    route();
  });
  let late = 0;
  addEventListener("scroll", () => { clearTimeout(late); late = setTimeout(() => keep("scroll", scrollY), 120); }, { passive: true });
  route();
  if (D.watch) setTimeout(() => { keep("scroll", scrollY); save(); location.reload(); }, D.watch * 1000);
}
start();
