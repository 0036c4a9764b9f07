"use strict";

/** Round steps for an axis that ends at `most`. */
function ticks(most, count) {
  const rough = most / count, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough) || 1;
  const all = [];
  for (let n = 0; n <= most * 1.0001; n += step) all.push(n);
  return all;
}

/**
 * Curves over time or runs. curves: [{name, colour, points: [[x, y]], band: [[x, low, high]]}]
 */
function lineChart(title, curves, options) {
  const { xName = "seconds", yName = "branches", steps = true, markers = [], width = innerWidth < 700 ? 420 : 640, height = 270 } = options || {};
  const [left, top, right, bottom] = [54, 20, 14, 36];
  const xs = curves.flatMap(c => c.points.map(p => p[0])), ys = curves.flatMap(c => c.points.map(p => p[1]));
  const maxX = xs.reduce((a, b) => Math.max(a, b), 0) || 1, maxY = (ys.reduce((a, b) => Math.max(a, b), 0) || 1) * 1.06;
  const x = v => left + (width - left - right) * v / maxX;
  const y = v => height - bottom - (height - top - bottom) * v / maxY;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  svg.append(s("title", null, title));
  for (const v of ticks(maxY, 4)) {
    svg.append(s("line", { class: "axis", x1: left, x2: width - right, y1: y(v), y2: y(v) }));
    svg.append(s("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, short(v)));
  }
  for (const v of ticks(maxX, 6)) {
    svg.append(s("text", { x: x(v), y: height - bottom + 18, "text-anchor": "middle" }, short(v)));
  }
  svg.append(s("text", { x: width - right, y: height - 4, "text-anchor": "end" }, xName));
  svg.append(s("text", { x: left - 46, y: top - 8 }, yName));
  for (const curve of curves) {
    if (!curve.points.length) continue;
    let path = "";
    let last = null;
    for (const [px, py] of curve.points) {
      if (!last) path = `M${x(px).toFixed(1)} ${y(py).toFixed(1)}`;
      else path += (steps ? `H${x(px).toFixed(1)}V${y(py).toFixed(1)}` : `L${x(px).toFixed(1)} ${y(py).toFixed(1)}`);
      last = [px, py];
    }
    const colour = curve.colour || "var(--accent)";
    if (curve.band && curve.band.length > 1) {
      const up = curve.band.map(([bx, , high]) => `${x(bx).toFixed(1)} ${y(high).toFixed(1)}`);
      const down = [...curve.band].reverse().map(([bx, low]) => `${x(bx).toFixed(1)} ${y(low).toFixed(1)}`);
      const band = s("path", { class: "area", d: `M${up.join("L")}L${down.join("L")}Z` });
      band.style.fill = colour;
      svg.append(band);
    } else if (curves.length === 1) {
      svg.append(s("path", { class: "area", d: `${path}V${y(0)}H${x(curve.points[0][0]).toFixed(1)}Z` }));
    }
    const line = s("path", { class: "curve", d: path }, s("title", null, curve.name || title));
    line.style.stroke = colour;
    svg.append(line);
  }
  for (const [px, py, text] of markers) {
    svg.append(s("circle", { class: "dot", cx: x(px), cy: y(py), r: 4 }, s("title", null, text)));
  }
  return svg;
}

function short(n) {
  if (n >= 1e6) return `${Math.round(n / 1e5) / 10} M`;
  if (n >= 1e4) return `${Math.round(n / 100) / 10} k`;
  return String(Math.round(n * 100) / 100);
}

/** Horizontal bars. rows: [[name, value, text]] */
function barChart(title, rows, colour) {
  const shown = rows.filter(row => row[1] > 0);
  const [width, line, left] = [460, 26, 132];
  const most = shown.reduce((a, row) => Math.max(a, row[1]), 0) || 1;
  const height = shown.length * line + 4;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  svg.append(s("title", null, title));
  shown.forEach(([name, value, text], i) => {
    const y = i * line;
    svg.append(s("text", { x: left - 10, y: y + 17, "text-anchor": "end" }, name));
    const bar = s("rect", { x: left, y: y + 5, rx: 3, height: 16, width: Math.max(2, (width - left - 92) * value / most) });
    bar.style.fill = typeof colour === "function" ? colour(i) : colour || "var(--accent)";
    svg.append(bar);
    const end = left + Math.max(2, (width - left - 92) * value / most) + 8;
    svg.append(s("text", { class: "value", x: end, y: y + 17 }, text === undefined ? number(value) : text));
  });
  return shown.length ? svg : h("p", { class: "dim" }, "nothing");
}

/** One bar of several parts, with a legend. parts: [[name, value, colour]] */
function stack(title, parts) {
  const shown = parts.filter(part => part[1] > 0), sum = shown.reduce((a, part) => a + part[1], 0);
  if (!sum) return h("p", { class: "dim" }, "nothing");
  const svg = s("svg", { viewBox: "0 0 640 28", role: "img", "aria-label": title, preserveAspectRatio: "none" });
  let at = 0;
  for (const [name, value, colour] of shown) {
    const width = 640 * value / sum;
    const part = s("rect", { x: at, y: 2, width: Math.max(0.5, width - 1), height: 24 }, s("title", null, `${name}: ${number(value)}`));
    part.style.fill = colour;
    svg.append(part);
    at += width;
  }
  const legend = h("div", { class: "legend" }, shown.map(([name, value, colour]) => {
    const box = h("i");
    box.style.background = colour;
    return h("span", null, box, `${name} `, h("b", null, number(value)), ` (${percent(value, sum)})`);
  }));
  return h("div", null, svg, legend);
}

const colours = i => `var(--c${i % 8})`;
