// Panels 3 and 4 of the stream ledger: what it would say, and whether the books balance.

import { chart, label, redraw, shape, tile } from "./charts.js";
import { clamp, html, panel, refill, write } from "./common.js";
import { LEVELS, cells, mapFrame, tokenText } from "./maps.js";
import { partWords, percent } from "./stream_ledger_words.js";

const ROW = 24;
const COUNT = 5;

/** The likeliest next tokens at the chosen place, as bars. */
export function lensPanel(life, { settle }) {
  const bars = chart("The likeliest next tokens at the chosen place");
  const title = html("span", {});
  const width = life.widthOf(bars, settle);
  return {
    node: panel("What the stream would say", title, bars),
    show(now) {
      const f = { width: width(), height: COUNT * ROW + 2 };
      write(title, `After ${partWords(now.place)}, through the final norm: ${amongWhich(now)}`);
      redraw(bars, f, now.says[now.place].flatMap((one, i) => lensRow(f, one, i)));
    },
  };
}

/** Chances, or shares where something is left out and the trace cannot know of all tokens. */
const amongWhich = ({ among }) =>
  among ? `shares among the ${among} tokens whose rows the trace holds` : "chances among all tokens";

function lensRow(f, { text, share }, i) {
  const [left, y] = [96, i * ROW];
  return [
    label("tb-tick tb-word", left - 8, y + 16, tokenText(text), "end"),
    shape("rect", {
      class: "tb-bar tb-lens",
      ...{ x: left, y: y + 4, width: Math.max(1, share * (f.width - left - 60)), height: ROW - 8 },
    }),
    label("tb-tick tb-share", f.width - 2, y + 16, percent(share), "end"),
  ];
}

const NUMBERS = 64;

/** The sum of what is counted, the stream, and what is between them, number by number. */
export function balancePanel(life, { settle }) {
  const strips = chart("The sum of the ledger, the stream at the end, and their difference, as strips");
  const title = html("span", {});
  const tiles = html("div", { class: "tb-tiles" });
  const width = life.widthOf(strips, settle);
  return {
    node: panel("The sum is the stream", title, strips, tiles),
    show(now) {
      const { end, run, off } = now;
      strips.toggleAttribute("hidden", !end);
      const shown = Math.min(NUMBERS, run.d);
      write(
        title,
        end
          ? `The end of the stack, the first ${shown} of ${run.d} numbers: blue above zero, rose below`
          : "Of this token the trace has sizes alone",
      );
      if (end) redraw(strips, ...drawStrips(width(), end, shown));
      const sum = end ? Math.hypot(...end.sum) / Math.sqrt(run.d) : now.sums.at(-1);
      const exact = (x) => (x >= 1000 ? x.toFixed(0) : x.toFixed(2));
      refill(
        tiles,
        tile("sum", "sum", `of ${run.places - off.length} entries`, sum, exact),
        tile("sum", "stream", "size at the end", end ? end.size : sum, exact),
        tile("out", "difference", end ? "size of what is between" : "not known", end ? end.off : NaN, (x) =>
          Number.isNaN(x) ? "–" : exact(x),
        ),
      );
    },
  };
}

function drawStrips(width, { sum, stream, difference }, count) {
  const names = ["sum", "stream", "difference"];
  const rows = [sum, stream, difference];
  const f = mapFrame({
    ...{ left: 76, right: width - 2, top: 2, bottom: 2 + 3 * ROW, rows: 3, columns: count },
  });
  const largest = Math.max(...stream.subarray(0, count).map(Math.abs));
  const level = (row, column) => {
    const x = rows[row][column] / largest;
    const share = Math.sqrt(clamp(Math.abs(x), 0, 1));
    return 2 * Math.sign(x) * Math.round((LEVELS / 2) * share); // every other level: half the paths
  };
  return [
    { width, height: f.bottom + 2 },
    [
      ...cells(f, level, ["tb-plus", "tb-minus"]),
      ...names.map((name, i) => label("tb-tick", f.left - 8, f.y(i + 0.5) + 4, name, "end")),
    ],
  ];
}
