// The arrays of a step as small heat cells with their numbers, read like a line of arithmetic.

import { chart, label, redraw, remembered, shape } from "./charts.js";
import { panel } from "./common.js";
import { axesOf, cellWords, nameOf, shapeWords, termsOf } from "./block_stepper_numbers.js";
import { STEPS } from "./block_stepper_steps.js";

const HEAD = 34; // two lines of words above an array
const GAP = 14;
const OPERATOR = 22;
const CELL = 23; // the height of one

/** Build the panel; `show(seen, arrays, roomy)`, where there is room to keep for other steps or not. */
export function valuesPanel(life, { settle }) {
  const cells = chart("The arrays of this step; the numbers are in the tables below");
  const width = life.widthOf(cells, settle);
  const roomFor = remembered(tallest);
  return {
    node: panel("What it holds", "Blue above zero, orange below; two decimals", cells),
    show(seen, arrays, roomy) {
      const wide = width();
      const { places, height: least } = layout(seen.terms, wide);
      const most = largest(seen.terms);
      const height = roomy ? roomFor(arrays, wide) : least;
      const shapes = places.flatMap((place) => draw(place, most));
      const boxes = shapes.filter(({ tag }) => tag === "rect"); // all together: see redraw
      redraw(cells, { width: wide, height }, [...boxes, ...shapes.filter(({ tag }) => tag !== "rect")]);
    },
  };
}

/** The height that every step has room in, so that nothing below moves from step to step. */
export function tallest(arrays, width) {
  return Math.max(...STEPS.map((step) => layout(termsOf(step, arrays), width).height));
}

/** Each array as a stack of matrices: heads beside each other, a vector as one row. */
function matricesOf({ shape: axes, numbers }) {
  const [rows, columns] = axes.length > 1 ? axes.slice(-2) : [1, axes[0]];
  const heads = axes.length > 2 ? axes[0] : 1;
  return { rows, columns, heads, at: (h, i, j) => numbers[(h * rows + i) * columns + j] };
}

/** Put the arrays one after the other, on a new line where the width is used up. */
export function layout(terms, width) {
  const cell = width < 420 ? 35 : 42;
  const places = [];
  let [x, y, deepest] = [0, 0, 0];
  for (const term of terms) {
    const matrix = matricesOf(term);
    const lead = term.operator || places.length ? OPERATOR : 0;
    const room = width - lead;
    const columns = matrix.heads * matrix.columns;
    const one = Math.min(cell, (room - 8 * (matrix.heads - 1)) / columns);
    const wide = columns * one + 8 * (matrix.heads - 1);
    const least = Math.max(wide, 6.6 * headWords(term).length * (cell / 42));
    if (x && x + lead + least > width + 0.5) [x, y, deepest] = [0, y + deepest + GAP, 0];
    const left = x + (x || term.operator ? lead : 0);
    places.push({ term, matrix, x: left, y, cell: one });
    x = left + Math.max(wide, least) + 2;
    deepest = Math.max(deepest, HEAD + matrix.rows * CELL);
  }
  return { places, height: y + deepest + 2 };
}

const headWords = ({ name, role, shape: axes }) => {
  const first = role ? `${nameOf(name)}, ${role}` : nameOf(name);
  const second = `(${axesOf(name)}) = ${shapeWords(axes)}`;
  return first.length > second.length ? first : second;
};

/** The largest size among finite numbers; it gets the strongest colour. */
function largest(terms) {
  const sizes = terms.flatMap(({ numbers }) => [...numbers]).filter(Number.isFinite).map(Math.abs);
  return Math.max(...sizes) || 1;
}

function draw({ term, matrix, x, y, cell }, most) {
  const { operator, name, role, shape: axes } = term;
  const title = role ? `${nameOf(name)}, ${role}` : nameOf(name);
  const middle = y + HEAD + (matrix.rows * CELL) / 2 + 5;
  return [
    ...(operator ? [label("tb-operator", x - 12, middle, operator, "middle")] : []),
    label("tb-array-name", x, y + 12, title),
    label("tb-array-shape", x, y + 28, `(${axesOf(name)}) = ${shapeWords(axes)}`),
    ...cellsOf(matrix, x, y + HEAD, cell, most),
  ];
}

function cellsOf({ rows, columns, heads, at }, x, y, cell, most) {
  const shapes = [];
  for (let h = 0; h < heads; h += 1)
    for (let i = 0; i < rows; i += 1)
      for (let j = 0; j < columns; j += 1) {
        const left = x + (h * columns + j) * cell + 8 * h;
        shapes.push(...cellOf(at(h, i, j), left, y + i * CELL, cell, most));
      }
  return shapes;
}

function cellOf(value, x, y, cell, most) {
  const finite = Number.isFinite(value);
  const kind = finite ? (value < 0 ? "tb-below" : "tb-above") : "tb-hidden";
  const strength = finite ? Math.round((Math.abs(value) / most) * 50) / 100 : 0;
  const box = { x: x + 0.5, y: y + 0.5, width: cell - 1, height: CELL - 1, rx: 3 };
  const size = cell < 34 ? "tb-cell-words tb-tight" : "tb-cell-words";
  return [
    shape("rect", { class: `tb-cell ${kind}`, ...box, "fill-opacity": strength }),
    label(size, x + cell / 2, y + 16, cellWords(value), "middle"),
  ];
}
