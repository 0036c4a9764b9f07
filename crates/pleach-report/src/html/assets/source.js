"use strict";
// Sites of files and functions, made once: where the branches of a site begin, and which sites
// each line has.
const firstBranch = [], sitesOfFile = D.files ? D.files.map(() => []) : [], functionOfSite = [];

function index() {
  let next = 0;
  D.fns.forEach(([, , , first, count], f) => {
    for (let i = first; i < first + count; i++) functionOfSite[i] = f;
  });
  D.sites.k.forEach((sides, i) => {
    firstBranch[i] = next;
    next += sides;
    sitesOfFile[D.sites.p[i]].push(i);
  });
}

const isTaken = branch => D.taken[branch] >= 0;

function coverage(sites) {
  let taken = 0, all = 0;
  for (const i of sites) {
    for (let b = firstBranch[i]; b < firstBranch[i] + D.sites.k[i]; b++) taken += isTaken(b);
    all += D.sites.k[i];
  }
  return [taken, all];
}

const rangeOf = f => Array.from({ length: D.fns[f][4] }, (_, i) => D.fns[f][3] + i);

function siteOfBranch(branch) {
  let [low, high] = [0, firstBranch.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (firstBranch[middle] <= branch) low = middle; else high = middle;
  }
  return low;
}

function sideName(branch) {
  const site = siteOfBranch(branch), side = branch - firstBranch[site], cases = D.cases[site];
  if (D.names[site]) return D.names[site][side];
  if (!cases) return side === 0 ? "true" : "false";
  return side < cases.length ? `case ${cases[side]}` : "default";
}

function placeName(site) {
  const name = D.files[D.sites.p[site]].n;
  return `${name.slice(name.lastIndexOf("/") + 1)}:${D.sites.l[site]}`;
}

const sourceLink = (file, line) => `#/file/${file}/${line}`;
const siteLink = site => h("a", { href: sourceLink(D.sites.p[site], D.sites.l[site]) }, placeName(site));
const inputLink = i => h("a", { href: `#/input/${i}` }, inputName(i));
function inputName(i) {
  const [kind, id] = D.inputs[i];
  return `${["", "crash ", "hang "][kind]}${String(id).padStart(6, "0")}`;
}

const CLASSES = {
  refuted: "refuted", asked: "never asked", fixed: "fixed by the grammar", unsolved: "not solved",
  missed: "solved, not taken", folded: "removed by the compiler", lost: "dependence lost",
  decided: "decided before", concrete: "not dependent on input", untraced: "not traced",
  unreached: "never reached",
};
const CLASS_COLOURS = {
  refuted: "var(--c0)", asked: "var(--c1)", fixed: "var(--c2)", unsolved: "var(--c7)", missed: "var(--c3)",
  folded: "var(--c4)", lost: "var(--c6)", decided: "var(--c4)", concrete: "var(--c2)", untraced: "var(--c3)",
  unreached: "var(--c5)",
};

/** Why a branch is taken or not, as elements. */
function why(branch) {
  if (isTaken(branch)) return [h("span", { class: "tag taken" }, "taken"), " first by ", inputLink(D.taken[branch])];
  const [kind, text, guard] = D.reasons[D.why[branch]];
  const parts = [h("span", { class: "tag missing" }, CLASSES[kind] || kind), " ", text];
  if (guard >= 0) {
    const site = siteOfBranch(guard);
    parts.push(" ", h("b", null, sideName(guard)), " of ", siteLink(site), h("p", { class: "dim" }, "That branch: ", why(guard)));
  }
  return parts;
}

/** Which of the branches at its place a site is: each operand of `a && b` is a branch there. */
function ordinal(site, sites) {
  const same = sites.filter(s => D.sites.c[s] === D.sites.c[site] && functionOfSite[s] === functionOfSite[site]);
  return same.length > 1 ? `, branch ${same.indexOf(site) + 1} of ${same.length}` : "";
}

const LINE = 20;
const WORDS = /^(?:auto|bool|break|case|catch|char|class|const|constexpr|continue|default|delete|do|double|else|enum|explicit|extern|float|for|friend|goto|if|inline|int|long|namespace|new|nullptr|operator|private|protected|public|register|return|short|signed|sizeof|static|struct|switch|template|this|throw|try|typedef|typename|union|unsigned|using|virtual|void|volatile|while)$/;
const TOKENS = /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[A-Za-z_]\w*/g;

/** For each line, true if it begins inside a comment. */
function commentStarts(lines) {
  let inside = false;
  return lines.map(line => {
    const before = inside;
    const rest = inside ? (line.includes("*/") ? line.slice(line.indexOf("*/") + 2) : null) : line;
    if (rest !== null) {
      const open = [...rest.matchAll(TOKENS)].map(m => m[0]).filter(t => t.startsWith("/*")).pop();
      inside = Boolean(open) && !(open.length > 3 && open.endsWith("*/"));
    }
    return before;
  });
}

/** A line with its comments, strings and words of the language marked. */
function coloured(line, inside) {
  const parts = [];
  let at = 0;
  if (inside) {
    at = line.includes("*/") ? line.indexOf("*/") + 2 : line.length;
    parts.push(h("span", { class: "m" }, line.slice(0, at)));
  }
  if (/^\s*#/.test(line) && at === 0) return [h("span", { class: "p" }, line)];
  TOKENS.lastIndex = at;
  for (let match = TOKENS.exec(line); match; match = TOKENS.exec(line)) {
    const token = match[0];
    const kind = token.startsWith("/") ? "m" : /^["']/.test(token) ? "s" : WORDS.test(token) ? "k" : null;
    if (!kind) continue;
    parts.push(line.slice(at, match.index), h("span", { class: kind }, token));
    at = match.index + token.length;
  }
  parts.push(line.slice(at));
  return parts;
}

/** The source of a file, with the branches of each line. Only the visible lines are elements. */
function sourceView(file, line) {
  const { n: name, s: text, why: missing } = D.files[file];
  const byLine = new Map();
  for (const site of sitesOfFile[file]) {
    const at = D.sites.l[site];
    if (!byLine.has(at)) byLine.set(at, []);
    byLine.get(at).push(site);
  }
  const [taken, all] = coverage(sitesOfFile[file]);
  const head = [
    h("h2", null, name),
    h("p", { class: "dim" }, meter(taken, all), ` ${number(taken)} of ${number(all)} branches taken. The numbers beside a line are its taken and all branches; click one for each branch.`),
  ];
  const panel = h("div", { class: "side card" }, h("p", { class: "dim" }, "Click the numbers beside a line to see each branch of it: the input that takes it first, or why none does."));
  const show = at => {
    const sites = byLine.get(at) || [];
    panel.replaceChildren(h("h3", null, `Line ${at}`), h("ul", null, sites.map(site => {
      const sides = Array.from({ length: D.sites.k[site] }, (_, i) => firstBranch[site] + i);
      return h("li", null, h("span", { class: "dim" }, "in "), h("code", null, D.fns[functionOfSite[site]][0]),
        D.sites.c[site] ? h("span", { class: "dim" }, `, column ${D.sites.c[site]}${ordinal(site, sites)}`) : null,
        sides.map(branch => h("p", null, h("b", null, sideName(branch)), " ", why(branch))));
    })));
    if (!sites.length) append(panel, [h("p", { class: "dim" }, "No branch on this line.")]);
  };
  const lines = text === null ? null : text.split("\n");
  if (lines === null) {
    const rows = [...byLine.keys()].sort((a, b) => a - b);
    if (line) show(line);
    return [head, h("p", { class: "note" }, missing), h("div", { class: "sourcebox" },
      table(`lines ${file}`, [
        { name: "Line", num: true, key: at => at, cell: at => h("button", { type: "button", onclick: () => show(at) }, at) },
        { name: "Taken", num: true, key: at => coverage(byLine.get(at))[0], cell: at => coverage(byLine.get(at)).join(" of ") },
      ], rows, { sort: 0 }), panel)];
  }
  const inComment = commentStarts(lines);
  const code = h("div", { class: "code", tabindex: "0", "aria-label": `source of ${name}` });
  const area = h("div", { class: "lines" });
  const whole = lines.length <= 3000;
  const longest = lines.reduce((a, l) => Math.max(a, l.length), 0);
  area.style.height = `${lines.length * LINE}px`;
  area.style.minWidth = `max(100%, ${Math.min(longest, 2000) + 4}ch + 130px)`;
  code.append(area);
  const row = i => {
    const sites = byLine.get(i + 1);
    let mark = null;
    if (sites) {
      const [t, a] = coverage(sites);
      const kind = t === 0 ? "none" : t < a ? "some" : "all";
      mark = h("button", { type: "button", class: kind, "aria-label": `line ${i + 1}: ${t} of ${a} branches taken`, onclick: () => { keep("line", i + 1); select(i + 1); } }, `${t}/${a}`);
    }
    const shown = lines[i].length > 2000 ? `${lines[i].slice(0, 2000)} …` : lines[i];
    const isUntaken = mark && mark.className === "none";
    const element = h("div", { class: `row${i + 1 === chosen ? " here" : ""}${isUntaken ? " untaken" : ""}` },
      h("span", { class: "no" }, i + 1), h("span", { class: "cov" }, mark), h("span", { class: "txt" }, coloured(shown, inComment[i])));
    element.dataset.line = i + 1;
    return element;
  };
  // Without a line, the first one that is not covered, or that has a branch.
  const branched = [...byLine.keys()].sort((a, b) => a - b);
  const first = branched.find(at => { const [t, a] = coverage(byLine.get(at)); return t < a; }) || branched[0];
  let chosen = line || 0;
  let window_ = [0, 0];
  const draw = force => {
    const from = whole ? 0 : Math.max(0, Math.floor(code.scrollTop / LINE) - 60);
    const to = whole ? lines.length : Math.min(lines.length, from + 200);
    if (!force && from === window_[0] && to === window_[1]) return;
    if (!force && !whole && Math.abs(from - window_[0]) < 30 && window_[1] > 0) return;
    window_ = [from, to];
    const pad = h("div");
    pad.style.height = `${from * LINE}px`;
    area.replaceChildren(pad, ...Array.from({ length: to - from }, (_, i) => row(from + i)));
  };
  const select = at => {
    chosen = at;
    area.querySelectorAll(".here").forEach(e => e.classList.remove("here"));
    const element = area.querySelector(`[data-line="${at}"]`);
    if (element) element.classList.add("here");
    show(at);
  };
  code.addEventListener("scroll", () => { draw(false); keep("code", code.scrollTop); });
  const ready = () => {
    const to = line || first;
    code.scrollTop = kept.code && kept.hash === location.hash ? kept.code : to ? Math.max(0, (to - 8) * LINE) : 0;
    draw(true);
    const at = (kept.hash === location.hash && kept.line) || line || first;
    if (at) select(at);
  };
  return [head, h("div", { class: "sourcebox" }, code, panel), ready];
}
