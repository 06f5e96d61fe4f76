// Panel 1 of the attention map: the weights of one query as bars, above the map of all queries.

import { chart, dragAlong, label, linearScale, redraw, remembered, rule, shape } from "./charts.js";
import { clamp, html, panel } from "./common.js";
import { inHundredths } from "./attention_map_numbers.js";
import { cells, columnNames, cursor, levelOf, mapFrame, ramp, readout, rowNames, tokenText } from "./maps.js";

/** Build the panel; `change({ query, key })` is called for the cell under a pressed pointer. */
export function rowPanel(life, { change, settle }) {
  const map = chart(
    "The weights of one head: a row for each query, a column for each key; above, one row as bars",
    "tb-draggable tb-map",
  );
  const width = life.widthOf(map, settle);
  let frame;
  let seen;
  const painted = remembered((across, weights, text, layer, head) =>
    cells(frame, (q, k) => (k > q ? NaN : levelOf(seen.weight(layer, head, q, k)))),
  );
  dragAlong(life, map, (x, y) => {
    const [query, key] = frame.cellAt(x, y);
    change(y < frame.top - 14 ? { key } : { query, key });
  });
  const line = readout(life, map, (x, y) => (frame.holds(x, y) ? frame.cellAt(x, y) : null));
  return {
    node: panel(
      "Who looks at whom",
      "A row for each query, a column for each key: press a cell, or drag",
      map,
      line.node,
      html("div", { class: "tb-key" }, html("span", {}, ramp("", "weight 0", "1"))),
    ),
    show(now) {
      seen = now;
      frame = frameOf(width(), now);
      redraw(map, frame, [
        ...bars(frame, now),
        ...painted(frame.width, now.weights, now.text, now.layer, now.head),
        ...mask(frame),
        shape("rect", { class: "tb-row-frame", ...rowBox(frame, now.query), rx: 2 }),
        ...cursor(frame, [now.query, now.key]),
        ...rowNames(frame, now.tokens.map(tokenText), now.query),
        ...columnNames(frame, now.tokens.map(tokenText), now.key),
      ]);
      line.show((cell) => describe(now, ...(cell ?? [now.query, now.key])));
    },
  };
}

function describe({ tokens, layer, head, weight }, query, key) {
  const pair = `${tokenText(tokens[query])} → ${tokenText(tokens[key])}`;
  return key > query
    ? `${pair}: hidden by the mask`
    : `${pair}: ${inHundredths(weight(layer, head, query, key))}`;
}

const LETTER = 6.6;

function frameOf(width, { tokens }) {
  const longest = Math.max(...tokens.map((token) => tokenText(token).length));
  const room = Math.min(LETTER * longest + 14, 80);
  const T = tokens.length;
  const [left, right] = [Math.max(34, room), width - 2];
  const down = clamp((0.62 * (right - left)) / T, 6, 26);
  const top = 134;
  const area = { left, right, top, bottom: top + down * T, rows: T, columns: T };
  const f = mapFrame(area);
  return { ...f, width, height: f.bottom + room, weights: linearScale([0, 1], [top - 16, 28]) };
}

/** The chosen row as bars over the columns of the map. */
function bars(f, { row, key }) {
  const grid = { left: f.left, right: f.right, y: f.weights };
  const bar = (weight, k) =>
    shape("rect", {
      class: k === key ? "tb-bar tb-weight tb-chosen" : "tb-bar tb-weight",
      x: f.x(k) + 0.5,
      width: Math.max(f.across - 1, 1),
      y: f.weights(weight),
      height: f.weights(0) - f.weights(weight),
    });
  return [
    label("tb-axis-name", 0, 10, "↑ weight, row of the query"),
    ...[0, 0.5, 1].flatMap((y) => rule(grid, y)),
    ...row.map(bar),
  ];
}

const rowBox = (f, query) => ({
  x: f.left - 1,
  y: f.y(query) - 1,
  width: f.across * (query + 1) + 1,
  height: f.down + 1,
});

/** What the mask hides stays paper; its name stands there where it has room. */
function mask(f) {
  const roomy = f.right - f.left > 260 && f.bottom - f.top > 90;
  return roomy ? [label("tb-tick", f.right - 6, f.top + 16, "hidden by the mask", "end")] : [];
}
