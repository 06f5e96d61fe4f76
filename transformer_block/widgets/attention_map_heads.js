// Panel 2 of the attention map: what every head of every block gives to the chosen pair.

import { chart, dragAlong, label, redraw, remembered, tile } from "./charts.js";
import { clamp, html, panel } from "./common.js";
import { inHundredths, spread } from "./attention_map_numbers.js";
import { cells, cursor, levelOf, mapFrame, readout, rowNames, spaced, tokenText } from "./maps.js";

/** Build the panel; `change({ layer, head })` is called for the cell under a pressed pointer. */
export function headPanel(life, { change, settle }) {
  const map = chart(
    "The weight that every head gives to the chosen pair: a column for each block, a row for each head",
    "tb-draggable tb-map",
  );
  const title = html("div", { class: "tb-subtitle" });
  const tiles = html("div", { class: "tb-tiles" });
  const width = life.widthOf(map, settle);
  let frame;
  let seen;
  const painted = remembered((across, weights, text, query, key) =>
    cells(frame, (head, layer) => levelOf(seen.pair[layer][head])),
  );
  dragAlong(life, map, (x, y) => {
    const [head, layer] = frame.cellAt(x, y);
    change({ layer, head });
  });
  const line = readout(life, map, (x, y) => (frame.holds(x, y) ? frame.cellAt(x, y) : null));
  return {
    node: panel("All heads, one pair", title, map, line.node, tiles),
    show(now) {
      seen = now;
      frame = frameOf(width(), now);
      const [query, key] = [now.query, now.key].map((i) => tokenText(now.tokens[i]));
      title.replaceChildren(`How much of “${query}” goes to “${key}”, in every head: press one`);
      redraw(map, frame, [
        ...painted(frame.width, now.weights, now.text, now.query, now.key),
        ...cursor(frame, [now.head, now.layer]),
        ...rowNames(frame, numbersTo(now.heads), now.head),
        ...blockNames(frame, now),
        label("tb-axis-name", 0, 10, "↓ head"),
        label("tb-axis-name", frame.right, frame.height - 3, "block →", "end"),
      ]);
      line.show((cell) => describe(now, ...(cell ?? [now.head, now.layer])));
      tiles.replaceChildren(
        tile("weight", "this pair", `block ${now.layer}, head ${now.head}`, now.row[now.key], inHundredths),
        tile("weight", "the first token", "gets of this row", now.row[0], inHundredths),
        tile("weight", "looks at", "tokens, e to the entropy", spread(now.row), (x) => x.toFixed(1)),
      );
    },
  };
}

const numbersTo = (count) => Array.from({ length: count }, (_, i) => String(i));

function describe({ pair }, head, layer) {
  return `block ${layer}, head ${head}: ${inHundredths(pair[layer][head])}`;
}

function frameOf(width, { layers, heads }) {
  const [left, right, top] = [26, width - 2, 20];
  const down = clamp(170 / heads, 8, 22);
  const f = mapFrame({ left, right, top, bottom: top + down * heads, rows: heads, columns: layers });
  return { ...f, width, height: f.bottom + 38 };
}

const blockNames = (f, { layers, layer }) =>
  spaced(numbersTo(layers), layer, f.across, 22).map(([name, i]) =>
    label(i === layer ? "tb-tick tb-here" : "tb-tick", f.x(i + 0.5), f.bottom + 15, name, "middle"),
  );
