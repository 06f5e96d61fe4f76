// What the maps of living pictures share: cells in a few shapes, a frame round one, and reading one.

import { label, shape } from "./charts.js";
import { clamp, html } from "./common.js";

export const LEVELS = 20;

/** The level of a share from 0 to 1; a root, so that small shares are seen too. */
export const levelOf = (share) => Math.round(LEVELS * Math.sqrt(clamp(share, 0, 1)));

/** Lay out a map of rows and columns in an area; `.cellAt(x, y)` goes back, to the nearest cell. */
export function mapFrame({ left, right, top, bottom, rows, columns }) {
  const [across, down] = [(right - left) / columns, (bottom - top) / rows];
  const place = (at, size, count) => clamp(Math.floor(at / size), 0, count - 1);
  return {
    ...{ left, right, top, bottom, rows, columns, across, down },
    x: (column) => left + across * column,
    y: (row) => top + down * row,
    cellAt: (x, y) => [place(y - top, down, rows), place(x - left, across, columns)],
    holds: (x, y) => x >= left && x < right && y >= top && y < bottom,
  };
}

/**
 * Cells as shapes, one for each level, so that a thousand cells cost little. `level(row, column)` is
 * a whole number, negative for the second of two kinds, 0 for a bare plate, NaN for no cell. A shape
 * is a polygon that goes to each of its cells from 0 0 and back: the `d` of a path counts as style,
 * which the browser would work out anew for every level at every move.
 */
export function cells(f, level, kinds = ["", ""]) {
  const ways = new Map();
  // Small cells overlap a little, since a gap of part of a pixel would look like a line.
  const [width, height] = [f.across, f.down].map((side) => (side >= 5 ? side - 1 : side + 0.4));
  for (let row = 0; row < f.rows; row += 1)
    for (let column = 0; column < f.columns; column += 1) {
      const at = level(row, column);
      if (Number.isNaN(at)) continue;
      const [x, y] = [f.x(column), f.y(row)];
      const [l, r, u, d] = [x, x + width, y, y + height].map((edge) => edge.toFixed(1));
      const box = ` ${l} ${u} ${r} ${u} ${r} ${d} ${l} ${d} ${l} ${u} 0 0`;
      ways.set(at, (ways.get(at) ?? "0 0") + box);
    }
  const filled = (at, kind) =>
    shape("polygon", {
      class: `tb-cell ${kind}`.trim(),
      style: `--tb-level: ${(100 * Math.abs(at)) / LEVELS}%`,
      points: ways.get(at) ?? "",
    });
  const levels = Array.from({ length: LEVELS }, (_, i) => i + 1);
  const second = kinds[1] ? levels.map((at) => filled(-at, kinds[1])) : [];
  return [filled(0, "tb-plate"), ...levels.map((at) => filled(at, kinds[0])), ...second];
}

/** A frame round one cell, light and dark so that it is seen on any. */
export function cursor(f, [row, column], kind = "tb-cursor") {
  const box = { x: f.x(column) - 1.5, y: f.y(row) - 1.5, width: f.across + 2, height: f.down + 2 };
  return [
    shape("rect", { class: "tb-cursor-halo", ...box, rx: 2 }),
    shape("rect", { class: kind, ...box, rx: 2 }),
  ];
}

/** Words that stand upright under a map. */
export function upright(kind, x, y, words) {
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(-90)`;
  return shape("text", { class: `${kind} tb-upright`, transform, "text-anchor": "end" }, words);
}

/**
 * Names along an axis of a map, every so many, so that none touch; last the chosen one. Those that
 * it would touch keep their places without words, so that another choice moves few letters.
 */
export function spaced(names, chosen, size, room) {
  const every = Math.max(1, Math.ceil(room / size));
  const seen = (name, i) => (Math.abs(i - chosen) < every ? "" : name);
  const regular = names.map((name, i) => [seen(name, i), i]).filter(([, i]) => i % every === 0);
  return [...regular, [names[chosen] ?? "", chosen]];
}

/** The names of rows, left of a map. */
export function rowNames(f, names, chosen, room = 14) {
  return spaced(names, chosen, f.down, room).map(([name, i]) =>
    label(i === chosen ? "tb-tick tb-here" : "tb-tick", f.left - 7, f.y(i + 0.5) + 4, name, "end"),
  );
}

/** The names of columns, upright under a map. */
export function columnNames(f, names, chosen, room = 14) {
  return spaced(names, chosen, f.across, room).map(([name, i]) =>
    upright(i === chosen ? "tb-tick tb-here" : "tb-tick", f.x(i + 0.5) + 4, f.bottom + 7, name),
  );
}

/**
 * A line of words that follows the pointer over a map and rests on the chosen cell: `show(words)`
 * takes a function of a cell, or of nothing. Screen readers have the spoken sentence instead.
 */
export function readout(life, node, cellAt) {
  const line = html("div", { class: "tb-readout", "aria-hidden": "true" });
  let words = () => "";
  let over = null;
  const write = () => {
    const text = words(over);
    if (line.textContent !== text) line.textContent = text;
  };
  life.listen(node, "pointermove", ({ clientX, clientY, pointerType }) => {
    const box = node.getBoundingClientRect();
    over = pointerType === "touch" ? null : cellAt(clientX - box.left, clientY - box.top);
    write();
  });
  life.listen(node, "pointerleave", () => {
    over = null;
    write();
  });
  return {
    node: line,
    show(latest) {
      words = latest;
      write();
    },
  };
}

/** A sample of the levels beside what their two ends mean. */
export function ramp(kind, low, high) {
  const steps = [0, 2, 5, 8, 11, 14, 17, 20].map((at) =>
    html("span", { class: `tb-step ${kind}`, style: `--tb-level: ${(100 * at) / LEVELS}%` }),
  );
  const strip = html("span", { class: "tb-ramp", "aria-hidden": "true" }, ...steps);
  return html("span", { class: "tb-ramp-item" }, `${low} `, strip, ` ${high}`);
}

/** A token as it is shown: without the blanks round it, unless it is nothing else. */
export const tokenText = (token) =>
  token.trim() || { " ": "␣", "\n": "⏎", "\t": "⇥" }[token] || "␣";

/** The names of tokens for a slider: their place and what they are. */
export const tokenWords = (tokens) => (i) => `${i}: ${tokenText(tokens[i] ?? "")}`;
