// The two maps of the gate map: all units in bins, and a window of them one by one.

import { chart, dragAlong, label, redraw, remembered, shape } from "./charts.js";
import { choice, clamp, html, panel } from "./common.js";
import { KINDS, fullSize, sayUnit, unitAt } from "./gate_map_numbers.js";
import { LEVELS, cells, cursor, mapFrame, ramp, readout, rowNames, tokenText } from "./maps.js";

const WINDOW = 48; // units that are shown one by one

/** A signed level: half powers, so that small values are seen. */
const signed = (x) => Math.sign(x) * Math.round(LEVELS * Math.sqrt(clamp(Math.abs(x), 0, 1)));

/** Build both panels; `change({ token, unit })` is called for the cell under a pressed pointer. */
export function mapPanels(life, { change, settle }) {
  const [all, some] = ["All hidden units, side by side", "Some hidden units, one by one"].map((name) =>
    chart(`${name}: a row for each token; blue is positive, rose negative`, "tb-draggable tb-map"),
  );
  const kinds = choice(life, "What the maps show", names(), (shown) => change({ shown }));
  const key = html("div", { class: "tb-key" }, ramp("tb-plus", "0", "large"), ramp("tb-minus", "0", "negative"));
  const width = life.widthOf(all, settle);
  let [wide, near, seen] = [];
  const size = remembered((data, which, shown) => fullSize(seen, shown));
  const overview = remembered((across, data, which, shown, order) => {
    const full = size(data, which, shown);
    return cells(wide, (t, bin) => signed(largest(seen, wide, t, bin) / full), ["tb-plus", "tb-minus"]);
  });
  const choose = (frame, x, y, toPlace) => {
    const [token, column] = frame.cellAt(x, y);
    change({ token, unit: unitAt(seen, clamp(toPlace(column), 0, seen.h - 1)) });
  };
  const binStart = (bin) => Math.floor((bin * seen.h) / wide.columns);
  dragAlong(life, all, (x, y) => choose(wide, x, y, binStart));
  dragAlong(life, some, (x, y) => choose(near, x, y, (column) => near.first + column));
  const line = readout(life, some, (x, y) => (near.holds(x, y) ? near.cellAt(x, y) : null));
  return {
    nodes: [
      panel("Tokens and hidden units", "Every unit of the block, the largest of its neighbours: press or drag", kinds.node, all, key),
      panel("A window of it", `${WINDOW} units round the chosen one: press a cell, or point at it`, some, line.node),
    ],
    show(now) {
      seen = now;
      kinds.show(now.shown);
      wide = frameOf(width(), now, Math.min(now.h, Math.round((width() - 70) / 3)));
      near = { ...frameOf(width(), now, Math.min(now.h, WINDOW)), first: firstOf(now) };
      const full = size(now.data, now.which, now.shown);
      redraw(all, wide, [
        ...overview(wide.width, now.data, now.which, now.shown, now.sorted ? now.token : -1),
        frameBox(wide, near, now),
        ...tokenNames(wide, now),
      ]);
      redraw(some, near, [
        ...cells(near, (t, c) => signed(now.value(now.shown, t, unitAt(now, near.first + c)) / full), ["tb-plus", "tb-minus"]),
        ...cursor(near, [now.token, now.place - near.first]),
        ...tokenNames(near, now),
        label("tb-tick", near.left, near.bottom + 15, placeWords(now, near.first)),
        label("tb-tick", near.right, near.bottom + 15, placeWords(now, near.first + near.columns - 1), "end"),
      ]);
      line.show((cell) => {
        const [token, column] = cell ?? [now.token, now.place - near.first];
        return sayUnit(now, token, unitAt(now, near.first + column));
      });
    },
  };
}

const names = () => Object.fromEntries(Object.entries(KINDS).map(([kind, { name }]) => [kind, name]));
const placeWords = (now, place) => `${now.sorted ? "place" : "unit"} ${place}`;
const firstOf = ({ place, h }) => clamp(place - WINDOW / 2, 0, Math.max(0, h - WINDOW));

function frameOf(width, { tokens }, columns) {
  const T = tokens.length;
  const [left, top] = [Math.min(66, 14 + 6.6 * longest(tokens)), 4];
  const down = clamp(260 / T, 8, 24);
  const f = mapFrame({ left, right: width - 4, top, bottom: top + down * T, rows: T, columns });
  return { ...f, width, height: f.bottom + 20 };
}

const longest = (tokens) => Math.max(...tokens.map((token) => tokenText(token).length));

/** The value of largest size in a bin of the overview. */
function largest(now, f, token, bin) {
  const [from, to] = [bin, bin + 1].map((edge) => Math.floor((edge * now.h) / f.columns));
  let best = 0;
  for (let place = from; place < to; place += 1) {
    const x = now.value(now.shown, token, unitAt(now, place));
    if (Math.abs(x) > Math.abs(best)) best = x;
  }
  return best;
}

/** Where the window stands in the overview. */
function frameBox(wide, near, { h }) {
  const across = (place) => wide.left + ((wide.right - wide.left) * place) / h;
  const [x, end] = [across(near.first), across(near.first + near.columns)];
  const box = { x, y: wide.top - 3, width: end - x, height: wide.bottom - wide.top + 6, rx: 3 };
  return shape("rect", { class: "tb-cursor", ...box });
}

const tokenNames = (f, { tokens, token }) => rowNames(f, tokens.map(tokenText), token);
