// What the charts of all living pictures share: scales, shapes, and drawing them.

import { brief, svg, update } from "./common.js";

/** The straight map that takes a to p and b to q; `.invert` goes back. */
export function linearScale([a, b], [p, q]) {
  const scale = (x) => p + ((x - a) / (b - a)) * (q - p);
  scale.invert = (y) => a + ((y - p) / (q - p)) * (b - a);
  return scale;
}

/** The smallest of 1, 2, 5, 10, 20 … that is at least x. */
export function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((step) => step * power).find((limit) => limit >= x);
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

/** A shape of a chart; shapes of the same tag and class must have the same attributes. */
export function shape(tag, attributes, words = "") {
  return { tag, attributes, words };
}

/** Words at a place in a chart. */
export function label(kind, x, y, words, anchor = "start") {
  return shape("text", { class: kind, x, y, "text-anchor": anchor }, words);
}

/** A curve through points. */
export function curve(kind, points) {
  return shape("path", { class: `tb-line ${kind}`, d: linePath(points) });
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

/** Show shapes in an SVG element, in true pixels so that letters keep their size. */
export function redraw(node, { width, height }, shapes) {
  update(node, "viewBox", `0 0 ${width} ${height}`);
  shapes.forEach((wanted, i) => {
    const child = childLike(node, i, wanted);
    for (const [name, value] of Object.entries(wanted.attributes)) update(child, name, value);
    if (child.textContent !== wanted.words) child.textContent = wanted.words;
  });
  while (node.children.length > shapes.length) node.lastChild.remove();
}

/** The child at this place, replaced by a new one where it is not of the wanted kind. */
function childLike(node, i, { tag, attributes }) {
  const found = node.children[i];
  if (found?.tagName === tag && found.getAttribute("class") === attributes.class) return found;
  const fresh = svg(tag, { class: attributes.class });
  if (found) found.replaceWith(fresh);
  else node.append(fresh);
  return fresh;
}

/** A short sample of a "line" or "bar" to stand beside its name; its look comes from the class. */
export function swatch(form, kind) {
  const sample =
    form === "bar"
      ? svg("rect", { class: kind, x: 4, y: 1, width: 14, height: 12 })
      : svg("line", { class: kind, x1: 1, x2: 23, y1: 7, y2: 7 });
  return svg("svg", { class: "tb-swatch", viewBox: "0 0 24 14", "aria-hidden": "true" }, sample);
}
