"use strict";

/** The mean of several campaigns, and the range between them, at the same times or runs. */
function curveOf(strategy, field, colour) {
  const all = strategy.campaigns.map(c => c.points.map(p => [p[field], p.covered]));
  const most = all.flat().reduce((a, p) => Math.max(a, p[0]), 0);
  const at = (points, x) => { let y = 0; for (const p of points) { if (p[0] > x) break; y = p[1]; } return y; };
  const points = [], band = [];
  for (let i = 0; i <= 160; i++) {
    const x = most * i / 160, ys = all.map(points => at(points, x));
    if (!ys.length) break;
    points.push([x, ys.reduce((a, b) => a + b, 0) / ys.length]);
    band.push([x, Math.min(...ys), Math.max(...ys)]);
  }
  return { name: strategy.name, colour, points, band: all.length > 1 ? band : null };
}

function comparison() {
  const c = D.comparison, field = kept.axis === "runs" ? "runs" : "seconds";
  const curves = c.strategies.map((strategy, i) => curveOf(strategy, field, colours(i)));
  const mean = (s, get) => s.campaigns.length ? s.campaigns.reduce((a, x) => a + get(x), 0) / s.campaigns.length : 0;
  const range = (s, get) => { const all = s.campaigns.map(get); return all.length > 1 ? ` (${number(Math.min(...all))}–${number(Math.max(...all))})` : ""; };
  const axis = h("button", { type: "button", onclick: () => { keep("axis", field === "runs" ? "time" : "runs"); route(); } }, field === "runs" ? "By time" : "By runs");
  const legend = h("div", { class: "legend" }, c.strategies.map((strategy, i) => { const box = h("i"); box.style.background = colours(i); return h("span", null, box, strategy.name); }));
  const column = (name, get) => ({ name, num: true, key: s => mean(s, get), cell: s => [number(Math.round(mean(s, get) * 10) / 10), h("span", { class: "faint" }, range(s, get))] });
  const rows = c.strategies;
  return [
    h("p", { class: "dim" }, c.budget),
    h("div", { class: "grid" },
      h("section", { class: "card wide" }, h("div", { class: "tools" }, h("h2", null, "Branches covered"), axis), lineChart("branches covered", curves, { xName: field, width: innerWidth < 700 ? 420 : 1160, height: innerWidth < 700 ? 270 : 400 }), legend,
        h("p", { class: "dim" }, "Each line is the mean of the campaigns of a strategy; the band reaches from the smallest to the largest.")),
      h("section", { class: "card wide" }, h("h2", null, "Strategies"), table("strategies", [
        text("Strategy", s => s.name),
        column("Covered", x => x.covered),
        count("Of all branches", s => mean(s, x => x.covered) / (c.branches || 1), s => percent(mean(s, x => x.covered), c.branches)),
        column("Inputs", x => x.inputs), column("Runs", x => x.runs), column("Crashes", x => x.crashes), column("Last new branch (s)", x => x.last_new_s),
        column("Traces", x => x.measures.traces), column("Solving (s)", x => Math.round(x.measures.solving_s * 100) / 100),
        text("Ended", s => [...new Set(s.campaigns.map(x => x.stop))].join(", "), { text: true }),
      ], rows, { sort: 1, down: true })),
      card("Branches that only the row covers, not the column", h("div", { class: "scroll" }, h("table", null,
        h("thead", null, h("tr", null, h("th", null, ""), rows.map(s => h("th", { class: "num" }, s.name)))),
        h("tbody", null, c.overlap.map((line, i) => h("tr", null, h("th", null, rows[i].name), line.map((n, j) => h("td", { class: "num" }, i === j ? h("b", null, number(n)) : number(n)))))))),
        h("p", { class: "dim" }, "On the diagonal: all that the strategy covers.")),
      c.modules.length ? card("Source files, mean of covered branches", table("modules", [text("File", r => r.name, { text: true }), count("Branches", r => r.branches),
        ...rows.map((s, i) => count(s.name, r => r.of[i], r => number(Math.round(r.of[i] * 10) / 10)))],
      c.modules.map((m, k) => ({ name: m.name, branches: m.branches, of: rows.map(s => mean(s, x => x.modules[k] ? x.modules[k].covered : 0)) })), { sort: 1, down: true, page: 50 })) : null),
  ];
}
