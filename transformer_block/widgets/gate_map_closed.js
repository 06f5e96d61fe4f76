// Panel 3 of the gate map: the four numbers of one unit, and the share of gates nearly closed.

import { chart, label, redraw, shape, tile } from "./charts.js";
import { fixed, html, panel, refill, write } from "./common.js";
import { KINDS, percent } from "./gate_map_numbers.js";
import { tokenText } from "./maps.js";

const ROW = 20;

/** Build the panel. */
export function closedPanel(life, { settle }) {
  const bars = chart("The share of gates that are nearly closed, token by token");
  const title = html("span", {});
  const tiles = html("div", { class: "tb-tiles" });
  const width = life.widthOf(bars, settle);
  return {
    node: panel("How many gates are nearly closed", title, bars, tiles),
    show(now) {
      const { closed, token, tokens, unit, block, value } = now;
      write(title, `Of the ${now.h} of block ${block}: those that let less than a tenth of up through`);
      const f = { width: width(), height: ROW * tokens.length + 2 };
      redraw(bars, f, tokens.flatMap((name, i) => row(f, tokenText(name), closed[i], i, i === token)));
      refill(
        tiles,
        ...Object.entries(KINDS).map(([kind, { name }]) =>
          tile(kind, name, `unit ${unit}`, value(kind, token, unit), (x) => fixed(x, 3)),
        ),
      );
    },
  };
}

function row(f, name, share, i, chosen) {
  const [left, y] = [70, i * ROW];
  const kind = chosen ? "tb-tick tb-here" : "tb-tick";
  return [
    label(kind, left - 8, y + 14, name, "end"),
    shape("rect", {
      class: chosen ? "tb-bar tb-closed tb-chosen" : "tb-bar tb-closed",
      ...{ x: left, y: y + 3, width: Math.max(1, share * (f.width - left - 50)), height: ROW - 7 },
    }),
    label(kind, f.width - 2, y + 14, percent(share), "end"),
  ];
}
