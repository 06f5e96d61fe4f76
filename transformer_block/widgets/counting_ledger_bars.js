// The stacked bars of the counting ledger: every part carries its own name and its share.

import { label, linearScale, redraw, shape } from "./charts.js";
import { clamp, fixed, html, panel, svg, update, write } from "./common.js";
import { inWords, percent, sum } from "./counting_ledger_numbers.js";

const KIND = {
  embedding: "embedding",
  positions: "embedding",
  head: "head",
  attention: "attention",
  "attention’s matrices": "attention",
  net: "net",
  "norms and biases": "rest",
  "scores and mixing": "context",
  "the rule of thumb": "rest",
};
const SHORT = { "attention’s matrices": "attention" };
const BAR = 62;
const LOW = 28; // a bar to compare with
const WORDS = 22; // above a bar that has marks
const LINE = 17; // of words under a bar
const GAP = 12;
const LETTER = 6.3; // pixels, on the generous side
const INDENT = 7;

/** A panel of bars on one scale; `show(title, [{ parts, marks, value, low }])` draws them. */
export function barPanel(life, subtitle, chartName, settle) {
  const chart = svg("svg", { class: "tb-chart", role: "img", "aria-label": chartName });
  const width = life.widthOf(chart, settle);
  const node = panel("", subtitle, chart);
  return {
    node,
    show(title, bars) {
      write(node.querySelector(".tb-title"), title);
      update(node, "aria-label", title);
      const ends = bars.flatMap(({ parts, marks = {} }) => [sum(parts), ...Object.values(marks)]);
      const room = width() - (bars.some(({ marks }) => marks) ? 34 : 2);
      const x = linearScale([0, Math.max(...ends)], [1, room]);
      let height = 0;
      const shapes = bars.flatMap((bar) => {
        const drawn = drawBar(x, bar, height, width());
        height = drawn.bottom + GAP;
        return drawn.shapes;
      });
      redraw(chart, { width: width(), height }, shapes);
    },
  };
}

function drawBar(x, bar, above, width) {
  const { marks, low } = bar;
  const top = above + (marks ? WORDS : 2);
  const height = low ? LOW : BAR;
  const pieces = piecesOf(x, bar);
  const inside = pieces.filter(({ room, words }) => room > words.length * LETTER + INDENT + 1);
  const outside = pieces.filter((piece) => !inside.includes(piece));
  const { rows, shapes } = namesBelow(outside, top + height, width);
  return {
    bottom: top + height + rows * LINE,
    shapes: [
      ...pieces.map((piece) => block(piece, top, height)),
      ...inside.flatMap((piece) => namesInside(piece, top, low)),
      ...marksAt(x, marks ?? {}, top, height),
      ...shapes,
    ],
  };
}

/** The parts that are there, each with its place on the bar and its words. */
function piecesOf(x, { parts, value }) {
  const all = sum(parts);
  let from = 0;
  return Object.entries(parts)
    .filter(([, number]) => number > 0)
    .map(([part, number]) => {
      const left = x(from);
      from += number;
      const room = x(from) - left;
      const size = value ? value(number) : percent(number / all);
      return { kind: KIND[part], left, room, words: SHORT[part] ?? part, size, number };
    });
}

function block({ kind, left, room }, y, height) {
  const seam = room > 6 ? 1.5 : 0; // paper shows between the parts
  const size = { x: left, y, width: Math.max(0.75, room - seam), height, rx: room > 12 ? 3 : 0 };
  return shape("rect", { class: `tb-bar tb-${kind}`, ...size });
}

function namesInside({ kind, left, words, size, number }, top, low) {
  const at = left + INDENT;
  if (low) return [label(`tb-in tb-${kind}`, at, top + 19, `${words}: ${size}`)];
  return [
    label(`tb-in tb-share tb-${kind}`, at, top + 24, size),
    label(`tb-in tb-part tb-${kind}`, at, top + 40, words),
    label(`tb-in tb-${kind}`, at, top + 54, inWords(number)),
  ];
}

/** The names of parts with no room for them: under the bar, in as many rows as it takes. */
function namesBelow(pieces, bottom, width) {
  const ends = []; // of each row, where its last name begins, from the right
  const names = [...pieces].reverse().map(({ kind, left, room, words, size }) => {
    const text = `${words} ${size}`;
    const long = text.length * LETTER;
    const middle = left + room / 2;
    const start = clamp(middle - long / 2, 0, width - long);
    let row = ends.findIndex((end) => start + long < end - 8);
    if (row < 0) row = ends.length;
    ends[row] = start;
    return { kind, text, middle, at: start + long / 2, y: bottom + (row + 1) * LINE - 2 };
  });
  return {
    rows: ends.length,
    shapes: [
      // The lines first: a name in their way covers them with its margin.
      ...names.map(({ kind, middle: x, y }) =>
        shape("line", { class: `tb-lead tb-${kind}`, x1: x, x2: x, y1: bottom, y2: y - 11 }),
      ),
      ...names.map(({ kind, at, y, text }) => label(`tb-name tb-${kind}`, at, y, text, "middle")),
    ],
  };
}

function marksAt(x, marks, top, height) {
  return Object.entries(marks).flatMap(([mark, at]) => [
    shape("line", { class: "tb-marker", x1: x(at), x2: x(at), y1: top - 4, y2: top + height + 4 }),
    label("tb-tick", x(at), top - 8, mark, "middle"),
  ]);
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
