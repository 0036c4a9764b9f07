"use strict";

const tile = (value, text) => h("div", { class: "tile" }, h("b", null, value), h("span", null, text));
const card = (title, ...children) => h("section", { class: "card" }, title && h("h2", null, title), children);
const text = (name, get, extra) => Object.assign({ name, key: row => String(get(row) ?? ""), cell: row => get(row) ?? "" }, extra);
const count = (name, get, show) => ({ name, num: true, key: get, cell: row => (show || (r => number(get(r))))(row) });

function reasonCounts() {
  const counts = {};
  D.taken.forEach((input, branch) => {
    if (input >= 0) return;
    const kind = D.reasons[D.why[branch]][0];
    counts[kind] = (counts[kind] || 0) + 1;
  });
  return Object.entries(counts).sort((a, b) => b[1] - a[1]);
}

/** The branches that were covered at each moment: an input covers what it takes first. */
function coverageOverTime(taken) {
  const gains = D.firsts.map((n, i) => [D.inputs[i][3] / 1000, n]).filter(g => g[1] > 0).sort((a, b) => a[0] - b[0]);
  const points = [[0, 0]];
  let covered = 0;
  for (const [time, n] of gains) points.push([time, covered += n]);
  return [...points, [Math.max(D.totals.seconds, points[points.length - 1][0]), taken]];
}

function overview() {
  const t = D.totals;
  const reasons = reasonCounts();
  const taken = D.taken.reduce((a, i) => a + (i >= 0), 0);
  const byRuns = kept.axis === "runs";
  const points = byRuns ? D.plot.map(p => [p[1], p[2]]) : coverageOverTime(taken);
  const crashes = D.crashes.filter(c => c.time !== null && !byRuns).map(c => {
    const before = points.filter(p => p[0] <= c.time).pop();
    return [c.time, before ? before[1] : 0, c.title];
  });
  const axis = h("button", { type: "button", onclick: () => { keep("axis", byRuns ? "time" : "runs"); route(); } }, byRuns ? "By time" : "By runs");
  return [
    h("div", { class: "tiles" },
      tile(percent(taken, D.taken.length), `${number(taken)} of ${number(D.taken.length)} branches`),
      tile(`${number(t.functionsReached)} of ${number(t.functions)}`, "functions reached"),
      tile(number(t.crashes), t.crashes === 1 ? "crash" : "crashes"), tile(number(t.hangs), t.hangs === 1 ? "hang" : "hangs"),
      tile(number(t.inputs), "inputs kept"), tile(number(t.runs), "runs"), tile(duration(t.seconds), D.state)),
    D.notes.map(note => h("p", { class: "note" }, note)),
    h("div", { class: "grid" },
      h("section", { class: "card" }, h("div", { class: "tools" }, h("h2", null, "Branches covered"), axis),
        points.length ? lineChart("branches covered", [{ points }], { xName: byRuns ? "runs" : "seconds", markers: crashes }) : h("p", { class: "dim" }, "No point is recorded yet.")),
      card("Branches", stack("branches by reason", [["taken", taken, "var(--taken)"], ...reasons.map(([kind, n]) => [CLASSES[kind] || kind, n, CLASS_COLOURS[kind] || "var(--c5)"])]),
        reasons.length ? table("reasons", [
          { name: "Not taken because", key: r => CLASSES[r[0]] || r[0], cell: r => h("a", { href: `#/missing/${r[0]}` }, CLASSES[r[0]] || r[0]) },
          count("Branches", r => r[1]),
        ], reasons, { sort: 1, down: true }) : null,
        h("p", null, h("a", { href: "#/missing" }, "Every branch that is not taken, and why"))),
      card("Inputs, by how they were made", barChart("inputs by how they were made", D.ops.map(o => [o[0], o[1]]), colours),
        table("ops", [text("Made by", o => o[0]), count("Inputs kept", o => o[1]), count("Branches taken first", o => o[2])], D.ops, { sort: 1, down: true })),
      card("Work", barChart("seconds by kind of work", D.actions.map(a => [a[0], a[2], duration(a[2])]), colours),
        table("actions", [text("Kind", a => a[0]), count("Number", a => a[1]), count("Seconds", a => a[2], a => duration(a[2]))], D.actions, { sort: 2, down: true })),
      card("Flips", stack("answers of the solver", [["sat", D.flips.sat, "var(--taken)"], ["unsat", D.flips.unsat, "var(--c0)"], ["optimistic", D.flips.optimistic, "var(--c1)"], ["unknown", D.flips.unknown, "var(--c7)"]]),
        table("tiers", [text("Answered by", r => r[0]), count("Flips", r => r[1]), count("Seconds", r => r[2], r => duration(r[2]))], D.tiers, { sort: 1, down: true })),
      D.members.length ? card("Members of the fleet", table("members", [text("Member", r => r[0]), count("Runs", r => r[1]), count("Branches", r => r[2]), count("Inputs", r => r[3]), count("Crashes", r => r[4])], D.members, { sort: 0 })) : null,
      card("Time of the workers", barChart("time by part", D.time.map(r => [r[0], r[1], duration(r[1])]), colours)),
      h("section", { class: "card wide" }, h("h2", null, "What was lost"),
        h("p", { class: "dim" }, "What keeps the search from following everything, and how often it was met."),
        h("div", { class: "grid" },
          D.partial.length ? table("partial", [text("What", r => r[0]), count("Times", r => r[1])], D.partial, { sort: 1, down: true, page: 30 }) : h("p", null, "Nothing."),
          h("div", null,
            D.unmodelled.length ? table("unmodelled", [text("Function without a model", r => h("code", null, r), { key: r => r })], D.unmodelled, { sort: 0, page: 30 }) : h("p", { class: "dim" }, "Every library function that received input has a model."),
            D.folded.length ? table("folded", [text("Branch that the compiler removed", r => r[0]), count("Times", r => r[1])], D.folded, { sort: 1, down: true, page: 20 }) : null,
            D.diverged.length ? table("diverged", [text("Decision where runs left their predicted path", r => r[0]), count("Runs", r => r[1])], D.diverged, { sort: 1, down: true, page: 20 }) : null)))),
  ];
}

function files() {
  const rows = D.files.map((file, i) => ({ i, name: file.n, functions: new Set(sitesOfFile[i].map(site => functionOfSite[site])).size, cover: coverage(sitesOfFile[i]) }))
    .filter(row => row.cover[1] > 0);
  return [h("h2", null, "Files"), table("files", [
    { name: "File", key: r => r.name, cell: r => h("a", { href: `#/file/${r.i}` }, r.name), text: true },
    count("Functions", r => r.functions), count("Taken", r => r.cover[0]), count("Branches", r => r.cover[1]),
    count("Coverage", r => r.cover[0] / r.cover[1], r => [meter(...r.cover), " ", percent(...r.cover)]),
  ], rows, { sort: 0 })];
}

/** A table with a box to search it. `of` gives the text of a row. */
function searchable(list, of, extra) {
  const box = h("input", { type: "search", placeholder: "Filter", "aria-label": "filter", value: kept[`filter ${location.hash}`] || "" });
  const apply = () => {
    keep(`filter ${location.hash}`, box.value);
    const wanted = box.value.toLowerCase();
    list.filter(row => of(row).toLowerCase().includes(wanted) && (!extra || extra()(row)));
  };
  box.addEventListener("input", apply);
  return { box, apply };
}

function functions() {
  const rows = D.fns.map(([name, file, line], f) => ({ name, file, line, cover: coverage(rangeOf(f)) }));
  const list = table("functions", [
    { name: "Function", key: r => r.name, cell: r => h("a", { href: sourceLink(r.file, r.line) }, h("code", null, r.name)), text: true },
    { name: "Place", key: r => `${D.files[r.file].n}:${String(r.line).padStart(7)}`, cell: r => `${D.files[r.file].n}:${r.line}`, text: true },
    count("Taken", r => r.cover[0]), count("Branches", r => r.cover[1]),
    count("Coverage", r => r.cover[0] / r.cover[1], r => [meter(...r.cover), " ", percent(...r.cover)]),
  ], rows, { sort: 0 });
  const { box, apply } = searchable(list, r => `${r.name} ${D.files[r.file].n}`);
  if (box.value) apply();
  return [h("h2", null, "Functions"), h("div", { class: "tools" }, box), list];
}

function missing(reason) {
  if (reason && kept.hash !== location.hash) keep("reason", reason);
  const rows = [];
  D.taken.forEach((input, branch) => { if (input < 0) rows.push(branch); });
  const cache = new Map();
  const kindOf = branch => D.reasons[D.why[branch]][0];
  const place = branch => {
    const site = siteOfBranch(branch);
    if (!cache.has(branch)) cache.set(branch, `${D.files[D.sites.p[site]].n}:${String(D.sites.l[site]).padStart(7)}`);
    return cache.get(branch);
  };
  const list = table("missing", [
    { name: "Branch", key: place, cell: b => h("span", { class: "place" }, siteLink(siteOfBranch(b)), " ", h("b", null, sideName(b))) },
    { name: "Function", key: b => D.fns[functionOfSite[siteOfBranch(b)]][0], cell: b => h("code", null, D.fns[functionOfSite[siteOfBranch(b)]][0]), text: true },
    { name: "Why", key: b => `${kindOf(b)} ${D.reasons[D.why[b]][1]}`, cell: why, text: true },
  ], rows, { sort: 0, page: 100 });
  const choice = h("select", { "aria-label": "reason" }, h("option", { value: "" }, "every reason"),
    reasonCounts().map(([kind, n]) => h("option", { value: kind, selected: kept.reason === kind }, `${CLASSES[kind] || kind} (${number(n)})`)));
  const { box, apply } = searchable(list, b => `${place(b)} ${D.fns[functionOfSite[siteOfBranch(b)]][0]} ${D.reasons[D.why[b]][1]}`,
    () => { const wanted = choice.value; return b => !wanted || kindOf(b) === wanted; });
  choice.addEventListener("change", () => { keep("reason", choice.value); apply(); });
  if (box.value || choice.value) apply();
  return [h("h2", null, `${number(rows.length)} branches that no kept input takes`), h("div", { class: "tools" }, choice, box), list];
}

function inputs() {
  const rows = D.inputs.map((input, i) => i);
  const list = table("inputs", [
    { name: "Input", key: i => D.inputs[i][0] * 1e9 + D.inputs[i][1], cell: inputLink },
    text("Made by", i => D.inputs[i][2]),
    { name: "From", num: true, key: i => D.inputs[i][4] ?? -1, cell: i => { const from = D.inputs[i][4]; const at = from === null ? -1 : D.inputs.findIndex(x => x[0] === 0 && x[1] === from); return at >= 0 ? inputLink(at) : ""; } },
    text("Branch", i => D.inputs[i][5], { text: true }),
    count("Time", i => D.inputs[i][3], i => duration(D.inputs[i][3] / 1000)), count("Bytes", i => D.inputs[i][6]),
    count("New branches", i => D.firsts[i]), text("Ended", i => D.inputs[i][7]),
  ], rows, { sort: 0 });
  const { box, apply } = searchable(list, i => D.inputs[i][8]);
  if (box.value) apply();
  return [h("h2", null, "Inputs"), h("div", { class: "tools" }, box), list];
}

/** Bytes as text and as hex; `marks` are ranges of bytes that matter. */
function bytesView(bytes, marks) {
  const matters = new Uint8Array(bytes.length);
  for (const [from, to] of marks || []) matters.fill(1, from, to);
  const LIMIT = 4096, shown = Math.min(bytes.length, LIMIT);
  const asText = h("pre", { class: "wrap" }), asHex = h("pre");
  const flush = (target, run, marked) => { if (run) target.append(marked ? h("mark", null, run) : document.createTextNode(run)); };
  let run = "", state = 0;
  for (let i = 0; i < shown; i++) {
    if (matters[i] !== state) { flush(asText, run, state); run = ""; state = matters[i]; }
    const b = bytes[i];
    run += b === 10 ? "↵\n" : b === 9 ? "⇥" : b >= 32 && b < 127 ? String.fromCharCode(b) : `\\x${b.toString(16).padStart(2, "0")}`;
  }
  flush(asText, run, state);
  const width = Math.min(16, shown);
  for (let at = 0; at < shown; at += width) {
    asHex.append(at.toString(16).padStart(6, "0"), "  ");
    let letters = "";
    for (let i = at; i < at + width; i++) {
      if (i >= shown) { asHex.append("   "); continue; }
      const hex = bytes[i].toString(16).padStart(2, "0");
      asHex.append(matters[i] ? h("mark", null, hex) : hex, i % 8 === 7 ? "  " : " ");
      letters += bytes[i] >= 32 && bytes[i] < 127 ? String.fromCharCode(bytes[i]) : ".";
    }
    asHex.append(" ", letters, "\n");
  }
  return h("div", { class: "grid" },
    h("div", null, h("h3", null, "As text"), bytes.length ? asText : h("p", { class: "dim" }, "empty")),
    h("div", null, h("h3", null, "As hex"), bytes.length ? asHex : h("p", { class: "dim" }, "empty")),
    shown < bytes.length ? h("p", { class: "dim wide" }, `The first ${number(shown)} of ${number(bytes.length)} bytes.`) : null,
    marks && marks.length ? h("p", { class: "dim wide" }, h("mark", null, "Marked"), " bytes are in the path condition: the run decided on them.") : null);
}

function inputView(i) {
  const input = D.inputs[i];
  if (!input) return [h("p", null, "There is no such input.")];
  const [, , op, time, source, site, length, end, name] = input;
  const from = source === null ? -1 : D.inputs.findIndex(x => x[0] === 0 && x[1] === source);
  const firsts = [];
  D.taken.forEach((by, branch) => { if (by === i) firsts.push(branch); });
  return [
    h("h2", null, input[0] === 0 ? `Input ${inputName(i)}` : inputName(i)),
    h("dl", null, h("dt", null, "File"), h("dd", null, h("code", null, name)), h("dt", null, "Made by"), h("dd", null, op || "–", from >= 0 ? [" from ", inputLink(from)] : null, site ? (/flip|optimistic/.test(op) ? ` for ${site}` : `, takes a new branch at ${site}`) : null),
      h("dt", null, "Kept after"), h("dd", null, duration(time / 1000)), h("dt", null, "Length"), h("dd", null, `${number(length)} bytes`), h("dt", null, "Ended"), h("dd", null, end),
      h("dt", null, "Replay"), h("dd", null, h("code", null, `${D.replay[0]}${D.dir}/${name}${D.replay[1]}`))),
    D.bytes[i] !== undefined ? bytesView(base64(D.bytes[i]), []) : h("p", { class: "note" }, "The bytes of this input are not in the page: the page would become too large. The file has them."),
    h("h2", null, `Branches that it takes first: ${number(firsts.length)}`),
    table(`firsts ${i}`, [
      { name: "Branch", key: b => `${D.files[D.sites.p[siteOfBranch(b)]].n}:${String(D.sites.l[siteOfBranch(b)]).padStart(7)}`, cell: b => [siteLink(siteOfBranch(b)), " ", h("b", null, sideName(b))] },
      { name: "Function", key: b => D.fns[functionOfSite[siteOfBranch(b)]][0], cell: b => h("code", null, D.fns[functionOfSite[siteOfBranch(b)]][0]), text: true },
    ], firsts, { sort: 0 }),
  ];
}

function crashes() {
  if (!D.crashes.length) return [h("h2", null, "Crashes and hangs"), h("p", null, "None was found.")];
  return [h("h2", null, "Crashes and hangs"), table("crashes", [
    { name: "What", key: c => c.title, cell: c => h("a", { href: `#/crash/${D.crashes.indexOf(c)}` }, c.title), text: true },
    { name: "Where", key: c => c.where, cell: c => h("code", null, c.where), text: true },
    count("Inputs", c => c.inputs.length), count("Bytes", c => c.length), count("First seen", c => c.time ?? 0, c => c.time === null ? "" : duration(c.time)),
  ], D.crashes, { sort: 0 })];
}

/** The number of a file: by its path, or by the end of it if only one ends so. */
function fileOf(path) {
  const whole = D.files.findIndex(file => file.p === path);
  if (whole >= 0 || !path) return whole;
  const ends = D.files.map((file, i) => i).filter(i => D.files[i].p.endsWith(`/${path}`) || path.endsWith(`/${D.files[i].p}`));
  return ends.length === 1 ? ends[0] : -1;
}

function crashView(i) {
  const c = D.crashes[i];
  if (!c) return [h("p", null, "There is no such crash.")];
  const frame = f => {
    const [, file, line] = f;
    const at = fileOf(file);
    const name = at >= 0 ? D.files[at].n : D.root && file.startsWith(`${D.root}/`) ? file.slice(D.root.length + 1) : file;
    return at >= 0 && line ? h("a", { href: sourceLink(at, line) }, `${name}:${line}`) : `${name}${file && line ? `:${line}` : ""}`;
  };
  const code = f => {
    const source = f[2] ? (D.files[fileOf(f[1])] || {}).s : null;
    return source ? (source.split("\n")[f[2] - 1] || "").trim() : "";
  };
  return [
    h("h2", null, c.title, c.frames.length ? ` in ${c.where}` : ""), c.note ? h("p", { class: "note" }, c.note) : null,
    h("dl", null, h("dt", null, "Replay"), h("dd", null, h("code", null, c.replay)),
      h("dt", null, "Inputs"), h("dd", null, c.inputs.map((input, n) => [n ? ", " : "", inputLink(input)]))),
    c.frames.length ? [h("h2", null, "Stack"), h("div", { class: "scroll" }, h("table", { class: "frames" }, h("tbody", null, c.frames.map((f, n) =>
      h("tr", null, h("td", null, `#${n}`), h("td", { class: "text" }, h("code", null, f[0]), " ", h("span", { class: "place" }, frame(f))), h("td", { class: "text line" }, h("code", null, code(f))), h("td", { class: "mono dim module" }, f[3] || ""))))))] : null,
    h("h2", null, c.minimal ? "Smallest input" : "Input"),
    c.minimal ? h("p", { class: "dim" }, c.minimal) : null,
    c.bytes !== null ? bytesView(base64(c.bytes), c.marks) : h("p", { class: "note" }, "The bytes are not in the page: it would become too large."),
    c.conditions.length ? [h("h2", null, `Path condition of ${c.lastFunction}`), h("pre", null, c.conditions.map(([place, text]) => `${text}   // ${place}\n`))] : null,
    c.output ? [h("h2", null, "Output"), h("pre", { class: "wrap" }, c.output)] : null,
  ];
}

function grammar() {
  const g = D.grammar;
  const times = [count("Inputs", r => r[1])];
  return [
    h("h2", null, "Grammar"), h("p", { class: "dim" }, g.note),
    h("div", { class: "tiles" }, tile(`${number(g.productions.filter(p => p[1] > 0).length)} of ${number(g.productions.length)}`, "productions exercised"),
      tile(`${number(g.tokens.filter(p => p[1] > 0).length)} of ${number(g.tokens.length)}`, "tokens exercised"),
      tile(number(g.parsed), "kept inputs that are sentences"), tile(number(g.foreign), "kept inputs that are not")),
    h("div", { class: "grid" },
      card("Productions", table("productions", [text("Production", p => h("code", null, p[0]), { key: p => p[0], text: true }), ...times], g.productions, { sort: 1, page: 100 })),
      card("Tokens", table("tokens", [text("Token", p => h("code", null, p[0]), { key: p => p[0], text: true }), ...times], g.tokens, { sort: 1, page: 100 })),
      h("section", { class: "card wide" }, h("h2", null, "Sentences that the program rejected"), g.rejectedNote ? h("p", { class: "dim" }, g.rejectedNote) : null,
        g.rejected.length ? table("rejected", [text("Sentence", r => h("code", null, r[0]), { key: r => r[0], text: true }), text("How", r => r[1], { text: true })], g.rejected, { page: 50 }) : null,
        g.rejectedAt.length ? table("rejectedAt", [text("Stopped at", r => r[0], { text: true }), count("Sentences", r => r[1])], g.rejectedAt, { sort: 1, down: true, page: 50 }) : null,
        g.hints.length ? [h("h3", null, "What the program accepts and the grammar does not have"), table("hints", [text("What", r => r[0], { text: true }), text("Example", r => h("code", null, r[1]), { key: r => r[1], text: true })], g.hints, { page: 50 })] : null)),
  ];
}
