// Panel 1 of the stream ledger: every token at every place, to choose a cell from.

import { chart, dragAlong, label, redraw, remembered } from "./charts.js";
import { choice, clamp, fixed, html, panel } from "./common.js";
import { LEVELS, cells, columnNames, cursor, mapFrame, ramp, readout, spaced, tokenText } from "./maps.js";
import { mapOf } from "./stream_ledger_numbers.js";
import { partName, percent } from "./stream_ledger_words.js";

const SHOWN = { lens: "What it would say", stream: "How large it is", write: "How much is written" };

/** Build the panel; `change({ token, place })` is called for the cell under a pressed pointer. */
export function mapPanel(life, { change, settle }) {
  const map = chart(
    "Every token at every place of the stack: a column for each token, a row for each entry",
    "tb-draggable tb-map",
  );
  const width = life.widthOf(map, settle);
  const kinds = choice(life, "What the map shows", SHOWN, (shown) => change({ shown }));
  const key = html("div", { class: "tb-key" });
  let frame;
  let seen;
  const valued = remembered((run, off) => mapOf(run, off ? off.split(",").map(Number) : []));
  const painted = remembered((across, run, off, shown) => {
    key.replaceChildren(...keyOf(shown));
    return cells(frame, leveller(run, valued(run, off), shown), ["tb-same", "tb-other"]);
  });
  dragAlong(life, map, (x, y) => {
    const [place, token] = frame.cellAt(x, y);
    change({ token, place });
  });
  const line = readout(life, map, (x, y) => (frame.holds(x, y) ? frame.cellAt(x, y) : null));
  return {
    node: panel(
      "Tokens and layers",
      "From the embedding at the top to the end of the stack: press a cell, or drag",
      kinds.node,
      map,
      line.node,
      key,
    ),
    show(now) {
      seen = now;
      const off = now.off.join();
      frame = frameOf(width(), now);
      kinds.show(now.shown);
      redraw(map, frame, [
        ...painted(frame.width, now.run, off, now.shown),
        ...cursor(frame, [now.place, now.token]),
        ...placeNames(frame, now),
        ...(now.run.letters ? wordNames : tokenNames)(frame, now),
      ]);
      line.show((cell) => describe(seen, valued(seen.run, off), ...(cell ?? [seen.place, seen.token])));
    },
  };
}

function keyOf(shown) {
  if (shown === "stream") return [ramp("tb-same", "smallest", "largest, by powers")];
  if (shown === "write") return [ramp("tb-same", "nothing", "as much as the stream, or more")];
  return [ramp("tb-same", "as at the end: 0", "1"), ramp("tb-other", "another token: 0", "1")];
}

/** How strong a cell is: the chance of its likeliest token, or a size. */
function leveller(run, value, shown) {
  const full = (share) => Math.round(LEVELS * clamp(share, 0, 1));
  if (shown === "write") {
    return (place, token) =>
      place ? full(value(place, token).write / (value(place - 1, token).sum || 1e-9)) : NaN;
  }
  if (shown === "lens")
    return (place, token) => {
      const { says, answer } = value(place, token);
      return says.text === answer ? full(says.share) : -full(says.share);
    };
  const sizes = [...run.stream].filter((size) => size > 0).map(Math.log);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  return (place, token) => full((Math.log(value(place, token).sum) - low) / (high - low || 1));
}

function describe({ tokens }, value, place, token) {
  const { says, sum, write } = value(place, token);
  const size = place ? `writes ${fixed(write, 2)}, stream ${fixed(sum, 2)}` : `size ${fixed(sum, 2)}`;
  return `${token}: ${tokenText(tokens[token])}, ${partName(place)}: ${size}, says “${tokenText(says.text)}” ${percent(says.share)}`;
}

function frameOf(width, { run, tokens }) {
  const longest = Math.max(...tokens.map((token) => tokenText(token).length));
  const room = 14 + Math.min(6.6 * longest, 74);
  const [left, right, top] = [84, width - 2, 6];
  const down = clamp(400 / run.places, 6, 30);
  const area = { left, right, top, bottom: top + down * run.places };
  const f = mapFrame({ ...area, rows: run.places, columns: tokens.length });
  return { ...f, width, height: f.bottom + room };
}

const placeNames = (f, { run, place }) =>
  spaced(Array.from({ length: run.places }, (_, i) => partName(i)), place, f.down, 15).map(
    ([name, i]) =>
      label(i === place ? "tb-tick tb-here" : "tb-tick", f.left - 7, f.y(i + 0.5) + 4, name, "end"),
  );

const tokenNames = (f, { tokens, token }) => columnNames(f, tokens.map(tokenText), token);

/** Where tokens are letters, the words that they make, each under its first letter if it has room. */
function wordNames(f, { tokens, token }) {
  let free = 0;
  return [...tokens.join("").matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
    const [x, here] = [f.x(index), index <= token && token < index + word.length];
    if (x < free || x + 6.6 * word.length > f.width) return [];
    free = x + 6.6 * word.length + 6;
    return [label(here ? "tb-tick tb-here" : "tb-tick", x, f.bottom + 16, word)];
  });
}
