// The stacked bars of the counting ledger, and the keys under them.

import { label, linearScale, redraw, shape, swatch } from "./charts.js";
import { fixed, html, panel, refill, svg } from "./common.js";
import { full, percent, sum } from "./counting_ledger_numbers.js";

const KIND = {
  embedding: "embedding",
  positions: "embedding",
  head: "head",
  attention: "attention",
  "attention’s matrices": "attention",
  net: "net",
  "norms and biases": "rest",
  "scores and mixing": "context",
  "6N": "rest",
};
const BAR = 26;
const WORDS = 20; // above a bar that has a name or marks
const GAP = 10;

/** A panel of bars on one scale; `show([{ name, parts, marks }])` draws one bar for each. */
export function barPanel(life, title, subtitle, chartName, settle) {
  const chart = svg("svg", { class: "tb-chart", role: "img", "aria-label": chartName });
  const key = html("ul", { class: "tb-key tb-parts" });
  const width = life.widthOf(chart, settle);
  return {
    node: panel(title, subtitle, chart, key),
    show(bars) {
      const most = Math.max(...bars.flatMap(({ parts, marks = {} }) => [
        sum(parts),
        ...Object.values(marks),
      ]));
      const x = linearScale([0, most], [1, width() - 34]);
      let height = 0;
      const shapes = bars.flatMap((bar) => {
        const top = height + (bar.name || bar.marks ? WORDS : 2);
        height = top + BAR + GAP;
        return draw(x, bar, top);
      });
      redraw(chart, { width: width(), height }, shapes);
      refill(key, ...entries(bars[0].parts));
    },
  };
}

function draw(x, { name, parts, marks = {} }, top) {
  let from = 0;
  const pieces = Object.entries(parts).map(([part, number]) => {
    const left = x(from);
    from += number;
    const size = { x: left, y: top, width: Math.max(0, x(from) - left), height: BAR };
    return shape("rect", { class: `tb-bar tb-${KIND[part]}`, ...size });
  });
  const lines = Object.entries(marks).flatMap(([mark, at]) => [
    shape("line", { class: "tb-marker", x1: x(at), x2: x(at), y1: top - 4, y2: top + BAR + 4 }),
    label("tb-tick", x(at) + 3, top - 7, mark),
  ]);
  const words = name ? [label("tb-axis-name", 1, top - 7, name)] : [];
  return [...words, ...pieces, ...lines];
}

function entries(parts) {
  const all = sum(parts);
  return Object.entries(parts)
    .filter(([, number]) => number > 0)
    .map(([part, number]) =>
      html(
        "li",
        {},
        html(
          "span",
          { class: `tb-name tb-${KIND[part]}` },
          swatch("bar", `tb-bar tb-${KIND[part]}`),
          part,
        ),
        ` ${full(number)}, ${percent(number / all)}`,
      ),
    );
}

/** Numbers in large type, each with its name and a note. */
export function tile(name, value, note) {
  return html(
    "div",
    { class: "tb-tile" },
    html("span", {}, name),
    html("strong", {}, typeof value === "number" ? fixed(value) : value),
    html("span", { class: "tb-note" }, note),
  );
}
