// Panel 2 of the RMSNorm scope: a vector to drag, and what each norm makes of it.

import { chart, keyItem, label, linearScale, redraw, roundUp, rule, shape } from "./charts.js";
import { brief, button, clamp, fixed, html, panel, refill, update } from "./common.js";
import { centred, mean, rms, seriesOf, tidy } from "./rmsnorm_scope_numbers.js";

const HEIGHTS = { input: 196, output: 156, names: 20 };
const INSET = 7; // half the height of a bar's handle: where a slider's travel begins
const NAMES = { rmsnorm: "RMSNorm", layernorm: "LayerNorm", yours: "yours" };
const PUSHES = [
  { text: "Add 1 to all", done: "Added 1 to every feature", to: (row) => row.map((x) => x + 1) },
  { text: "Subtract the mean", done: "Subtracted the mean", to: centred },
  { text: "Double it", done: "Doubled the vector", to: (row) => row.map((x) => 2 * x) },
];

/**
 * Build the panel. Of the hands, `change({ vector })` is called while a bar is dragged, `settle()`
 * when it is let go, `push` with one of the PUSHES by its button, `reset()` by the last button.
 */
export function vectorPanel(life, { now, change, settle, push, reset }) {
  const input = chart("The vector, with its mean and its RMS");
  const output = chart("What RMSNorm and LayerNorm make of the vector");
  const inputKey = html("div", { class: "tb-key" });
  const outputKey = html("div", { class: "tb-key" });
  const width = life.widthOf(input, settle);
  const move = (i, x) => change({ vector: now().vector.with(i, x) });
  const sliders = barSliders(life, settle, move);
  const buttons = PUSHES.map((kind) => button(life, kind.text, () => push(kind)));
  return {
    node: panel(
      "RMSNorm beside LayerNorm",
      "Drag the bars: both norms are given input scale × vector",
      inputKey,
      html("div", { class: "tb-stack" }, input, sliders.node),
      outputKey,
      output,
      html("div", { class: "tb-buttons" }, ...buttons, button(life, "Reset", reset)),
    ),
    show(now, before) {
      const d = now.vector.length;
      const series = seriesOf(now);
      const above = frameOf(width(), HEIGHTS.input, sliders.limit(now.vector), d);
      const below = frameOf(width(), HEIGHTS.output, outputLimit(now.outputs), d);
      const size = { width: width(), height: HEIGHTS.input + HEIGHTS.names };
      redraw(input, size, drawInput(above, now, before));
      redraw(output, below, drawOutput(below, series, before));
      sliders.show(now.vector, above);
      refill(inputKey, ...inputItems(now));
      refill(outputKey, ...outputItems(series, before));
    },
  };
}

/** One native slider over each bar: mouse, touch and keyboard come with it. */
function barSliders(life, settle, move) {
  const node = html("div", { class: "tb-bars", role: "group", "aria-label": "The vector" });
  let held = 0; // while a bar is dragged its axis stays, else it would slide away under the hand
  life.listen(node, "input", ({ target }) => {
    held ||= Number(target.max);
    move([...node.children].indexOf(target), Number(target.value));
  });
  life.listen(node, "change", () => {
    held = 0;
    settle();
  });
  return {
    node,
    limit: (vector) => held || inputLimit(vector),
    show(vector, f) {
      if (node.children.length !== vector.length) node.replaceChildren(...vector.map(barSlider));
      node.style.left = `${f.left}px`;
      node.style.width = `${f.right - f.left}px`;
      vector.forEach((x, i) => setSlider(node.children[i], x, f.limit));
    },
  };
}

function barSlider(_, i) {
  return html("input", {
    type: "range",
    step: 0.05,
    "aria-label": `Feature ${i + 1}`,
    "data-lm-suppress-shortcuts": "true", // JupyterLab would take the arrow keys for its cells
  });
}

function setSlider(input, x, limit) {
  update(input, "min", -limit);
  update(input, "max", limit);
  update(input, "aria-valuetext", brief(x));
  input.value = x;
}

function frameOf(width, height, limit, d) {
  const wide = width >= 520;
  const area = { left: 30, right: width - (wide ? 50 : 4), top: INSET, bottom: height - INSET };
  const y = linearScale([-limit, limit], [area.bottom, area.top]);
  const column = (area.right - area.left) / d;
  const middle = (i) => area.left + column * (i + 0.5);
  return { width, height, limit, wide, ...area, y, column, middle };
}

function inputLimit(vector) {
  const largest = Math.max(...vector.map(Math.abs));
  return largest <= 4 ? 4 : roundUp(largest);
}

/** ±2, or the next whole number: a norm's outputs of width d never pass √d. */
function outputLimit(outputs) {
  const sizes = Object.values(outputs).flat().map(Math.abs);
  return Math.max(2, Math.ceil(Math.max(...sizes)));
}

function drawInput(f, { vector }, before) {
  const y = f.y(mean(vector));
  const size = rms(vector);
  const below = topOf(f, size) + 13; // the other label's line
  return [
    ...axes(f, size, "±RMS"),
    ...vector.map((x, i) => bar(f, "input", f.middle(i) - 8, 16, x)),
    ...(before?.vector ?? []).map((x, i) => tick(f, f.middle(i) - 8, 16, x)),
    shape("line", { class: "tb-level", x1: f.left, x2: f.right, y1: y, y2: y }),
    ...(f.wide ? [label("tb-tick", f.right + 6, Math.max(y, below) + 4, "mean")] : []),
    ...vector.map((_, i) =>
      label("tb-tick", f.middle(i), f.height + HEIGHTS.names - 6, String(i + 1), "middle"),
    ),
  ];
}

function drawOutput(f, series, before) {
  const kinds = Object.keys(series);
  const thick = Math.min(16, (f.column - 5) / kinds.length);
  const left = (i, k) => f.middle(i) + (k - kinds.length / 2) * thick;
  const each = (rows, draw) =>
    kinds.flatMap((kind, k) => (rows[kind] ?? []).map((x, i) => draw(kind, left(i, k), x)));
  return [
    ...axes(f, 1, "±1"),
    ...each(series, (kind, x, value) => bar(f, kind, x + 0.5, thick - 1, value)),
    ...each(before?.series ?? {}, (_, x, value) => tick(f, x, thick, value)),
  ];
}

/** The axis, its rules, and a band from -spread to spread behind the bars. */
function axes(f, spread, name) {
  const top = topOf(f, spread);
  const band = { x: f.left, y: top, width: f.right - f.left, height: 2 * (f.y(0) - top) };
  return [
    shape("rect", { class: "tb-band", ...band }),
    ...[f.limit, 0, -f.limit].flatMap((y) => rule(f, y)),
    ...(f.wide ? [label("tb-tick", f.right + 6, top + 4, name)] : []),
  ];
}

const topOf = (f, spread) => f.y(Math.min(spread, f.limit));

/** Where a bar ends: at the edge when it is too long, at zero when it is no number. */
const endOf = (f, x) => f.y(Number.isFinite(x) ? clamp(x, -f.limit, f.limit) : 0);

function bar(f, kind, x, width, value) {
  const end = endOf(f, value);
  const height = Math.abs(end - f.y(0));
  return shape("rect", { class: `tb-bar tb-${kind}`, x, y: Math.min(end, f.y(0)), width, height });
}

function tick(f, x, width, value) {
  const y = endOf(f, value);
  return shape("line", { class: "tb-before", x1: x, x2: x + width, y1: y, y2: y });
}

function inputItems({ vector }) {
  const size = rms(vector);
  return [
    keyItem("bar", "tb-bar tb-input", "vector"),
    keyItem("line", "tb-level", "mean", fixed(tidy(mean(vector), size))),
    keyItem("bar", "tb-band", "RMS", fixed(size)),
  ];
}

function outputItems(series, before) {
  const items = Object.entries(series).map(([kind, row]) => {
    const size = rms(row);
    const numbers = `mean ${fixed(tidy(mean(row), size))}, RMS ${fixed(size)}`;
    return keyItem("bar", `tb-bar tb-${kind}`, NAMES[kind], numbers);
  });
  return before ? [...items, keyItem("line", "tb-before", "before")] : items;
}
