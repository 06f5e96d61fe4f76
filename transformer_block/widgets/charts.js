// What the charts of all living pictures share: scales, shapes, and drawing them.

import { brief, clamp, fixed, html, svg, update, write } from "./common.js";

/** The straight map that takes a to p and b to q; `.invert` goes back. */
export function linearScale([a, b], [p, q]) {
  const scale = (x) => p + ((x - a) / (b - a)) * (q - p);
  scale.invert = (y) => a + ((y - p) / (q - p)) * (b - a);
  return scale;
}

/** The smallest of 1, 2, 5, 10, 20 … that is at least x; with other steps, of those. */
export function roundUp(x, steps = [1, 2, 5, 10]) {
  const power = 10 ** Math.floor(Math.log10(x));
  return steps.map((step) => step * power).find((limit) => limit >= x);
}

/** The `d` of a path through points; a point that is not finite breaks the line. */
export function linePath(points) {
  let pen = "M";
  let path = "";
  for (const [x, y] of points) {
    const seen = Number.isFinite(y);
    if (seen) path += `${pen}${x.toFixed(2)} ${y.toFixed(2)}`;
    pen = seen ? "L" : "M";
  }
  return path;
}

/** Write a power of ten for an axis: 10⁻⁸. */
export function powerOfTen(exponent) {
  if (exponent === 0) return "1";
  const raise = (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]);
  return "10" + [...String(exponent)].map(raise).join("");
}

/** A shape of a chart; one with another `key` is never drawn by the same element. */
export function shape(tag, attributes, words = "", key = "") {
  return { tag, attributes, words, key };
}

/** Words at a place in a chart. */
export function label(kind, x, y, words, anchor = "start") {
  return shape("text", { class: kind, x, y, "text-anchor": anchor }, words);
}

/** A curve through points. */
export function curve(kind, points) {
  return shape("path", { class: `tb-line ${kind}`, d: linePath(points) });
}

/** Wrap a costly function: it runs anew only when one of the values it is given has changed. */
export function remembered(run) {
  let before = null;
  let result;
  return (...values) => {
    if (!before || values.some((value, i) => value !== before[i])) result = run(...values);
    before = values;
    return result;
  };
}

/** A rule across a chart's frame at height y, with its number; the one at 0 is an axis. */
export function rule(frame, y) {
  const at = frame.y(y);
  const kind = y === 0 ? "tb-axis" : "tb-grid";
  return [
    shape("line", { class: kind, x1: frame.left, x2: frame.right, y1: at, y2: at }),
    label("tb-tick", frame.left - 7, at + 4, brief(y), "end"),
  ];
}

const drawn = new WeakMap(); // of each SVG element, its children and the shapes that they show

/**
 * Show shapes in an SVG element, in true pixels so that letters keep their size. What it shows is
 * remembered: asking the page for every attribute takes longer than setting the few that change.
 * A child is taken for the next shape of its tag and key, so few are made where tags stay together.
 */
export function redraw(node, { width, height }, shapes) {
  update(node, "viewBox", `0 0 ${width} ${height}`);
  const spare = new Map();
  for (const one of drawn.get(node) ?? []) listOf(spare, one.wanted).push(one);
  const now = shapes.map((wanted) => ({ wanted, child: show(listOf(spare, wanted).shift(), wanted) }));
  for (const { child } of [...spare.values()].flat()) child.remove();
  let next = node.firstChild;
  for (const { child } of now) {
    if (child === next) next = next.nextSibling;
    else node.insertBefore(child, next);
  }
  drawn.set(node, now);
}

/** Of children by tag and key, the list to which a shape belongs. */
function listOf(children, { tag, key }) {
  const kind = `${tag} ${key}`;
  if (!children.has(kind)) children.set(kind, []);
  return children.get(kind);
}

/** Let the child that showed a shape show another, or a new one where there is none to take. */
function show(before, wanted) {
  const child = before?.child ?? svg(wanted.tag);
  const had = before?.wanted ?? { attributes: {}, words: "" };
  for (const [name, value] of Object.entries(wanted.attributes))
    if (had.attributes[name] !== value) child.setAttribute(name, value);
  for (const name of Object.keys(had.attributes))
    if (!(name in wanted.attributes)) child.removeAttribute(name);
  if (had.words !== wanted.words) write(child, wanted.words);
  return child;
}

/** A short sample of a "line" or "bar" to stand beside its name; its look comes from the class. */
export function swatch(form, kind) {
  const sample =
    form === "bar"
      ? svg("rect", { class: kind, x: 4, y: 1, width: 14, height: 12 })
      : svg("line", { class: kind, x1: 1, x2: 23, y1: 7, y2: 7 });
  return svg("svg", { class: "tb-swatch", viewBox: "0 0 24 14", "aria-hidden": "true" }, sample);
}

/** An empty chart; its name is what a screen reader gets in the place of its shapes. */
export function chart(name, kind = "") {
  return svg("svg", { class: `tb-chart ${kind}`.trim(), role: "img", "aria-label": name });
}

/**
 * Follow a pointer that is pressed on a chart: `move(x, y, begins)` in the chart's pixels. A finger
 * may still scroll the page up and down.
 */
export function dragAlong(life, node, move) {
  const follow = (event, begins) => {
    const box = node.getBoundingClientRect();
    move(event.clientX - box.left, event.clientY - box.top, begins);
  };
  life.listen(node, "pointerdown", (event) => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    follow(event, true);
  });
  life.listen(node, "pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) follow(event, false);
  });
}

/** Where a marker's flag stands under a frame, and how wide it is: other words make room for it. */
export function flagOf(f, x, words) {
  const half = 9 + 3.7 * words.length;
  return { x, words, half, middle: clamp(x, half, f.width - half) };
}

/** The flag of a marker, which says its value on the axis. */
export function flag(f, { middle, half, words }) {
  const box = { x: middle - half, y: f.bottom + 2, width: 2 * half, height: 22, rx: 11 };
  return [
    shape("rect", { class: "tb-flag", ...box }),
    label("tb-flag-text", middle, f.bottom + 17.5, words, "middle"),
  ];
}

/** Numbers along the axis under a frame, each `[x, words]`, without those that a flag covers. */
export function ticks(f, places, { middle, half }) {
  return places
    .filter(([x]) => Math.abs(x - middle) > half + 14)
    .map(([x, words]) => label("tb-tick", x, f.bottom + 18, words, "middle"));
}

/** What the axes of a frame measure. */
export function axisNames(f, up, along) {
  return [
    label("tb-axis-name", 0, 12, `↑ ${up}`),
    label("tb-axis-name", f.right, f.height - 4, `${along} →`, "end"),
  ];
}

/** One entry of a key: a sample, a name, and perhaps numbers. */
export function keyItem(form, kind, name, numbers = "") {
  return html("span", {}, swatch(form, kind), html("b", {}, name), ` ${numbers}`);
}

/** A number in large type under its name. */
export function tile(kind, name, note, value, words = fixed) {
  return html(
    "div",
    { class: "tb-tile" },
    html("span", { class: `tb-name tb-${kind}` }, swatch("line", `tb-line tb-${kind}`), name),
    html("strong", {}, words(value)),
    html("span", { class: "tb-note" }, note),
  );
}
