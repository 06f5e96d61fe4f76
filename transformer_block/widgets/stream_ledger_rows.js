// Panel 2 of the stream ledger: the entries of one token, each with its size and its direction.

import { chart, curve, dragAlong, keyItem, label, redraw, shape } from "./charts.js";
import { brief, clamp, html, panel } from "./common.js";
import { mapFrame, spaced, tokenText } from "./maps.js";
import { partName } from "./stream_ledger_words.js";

const BOX = 22; // the column in which an entry is switched

/** Build the panel; `change({ place })` chooses an entry, `toggle(i)` counts it or leaves it out. */
export function rowsPanel(life, { change, settle }, toggle) {
  const rows = chart(
    "The entries of one token: the size of each write, the running stream, and the cosine between them",
    "tb-draggable tb-map",
  );
  const width = life.widthOf(rows, settle);
  let frame;
  dragAlong(life, rows, (x, y, begins) => {
    const [i] = frame.cellAt(x, y);
    if (begins && x < BOX) toggle(i);
    else if (x >= BOX) change({ place: i });
  });
  return {
    node: panel(
      "The ledger of one token",
      "Press a row, or its box to leave it out of the sum",
      html(
        "div",
        { class: "tb-key" },
        keyItem("bar", "tb-bar tb-attention", "attention"),
        keyItem("bar", "tb-bar tb-net", "net"),
        keyItem("line", "tb-line tb-sum", "the stream so far"),
        keyItem("bar", "tb-bar tb-out", "not counted"),
      ),
      rows,
    ),
    show(now) {
      frame = frameOf(width(), now);
      redraw(rows, frame, draw(frame, now));
    },
  };
}

function frameOf(width, { run, writes, sums }) {
  const down = clamp(500 / run.places, 8, 34);
  const names = width >= 420;
  const [left, right] = [BOX, width - (names ? 96 : 4)];
  const area = { left, right, top: 34, bottom: 34 + down * run.places };
  const f = mapFrame({ ...area, rows: run.places, columns: 1 });
  const sizes = [...writes, ...sums].filter((x) => x > 0).map(Math.log10);
  const powers = [Math.floor(Math.min(...sizes)), Math.ceil(Math.max(...sizes) + 1e-9)];
  const [from, to] = [left + 78, left + 78 + 0.62 * (right - left - 78)];
  const size = (x) =>
    x > 0 ? clamp(from + ((Math.log10(x) - powers[0]) / (powers[1] - powers[0])) * (to - from), from, to) : from;
  const [zero, half] = [(to + 14 + right) / 2, (right - to - 14) / 2];
  const cosine = (x) => zero + half * x;
  return { ...f, width, height: f.bottom + 22, names, powers, from, to, size, cosine };
}

function draw(f, now) {
  const { place, sums } = now;
  const bar = clamp(f.down - 3, 4, 14);
  const at = (i) => f.y(i + 0.5);
  const paths = pathsOf(f, now, bar, at);
  return [
    shape("rect", { class: "tb-chosen-row", x: 0, y: f.y(place), width: f.width, height: f.down }),
    ...axes(f),
    ...Object.entries(paths).map(([kind, d]) => shape("path", { class: kind, d })),
    curve(
      "tb-sum",
      sums.map((sum, i) => [f.size(sum), at(i)]),
    ),
    ...nameRows(f, now, at),
    ...(f.names ? saysOf(f, now, at) : []),
    label("tb-axis-name", f.from, f.bottom + 14, "size →"),
  ];
}

/** Bars, boxes and directions, one path for each look. */
function pathsOf(f, { writes, cosines, off, run }, bar, at) {
  const paths = {
    "tb-bar tb-attention": "",
    "tb-bar tb-net": "",
    "tb-bar tb-start": "",
    "tb-bar tb-out": "",
    "tb-box": "",
    "tb-box tb-counted": "",
  };
  const rect = (x, y, width, height) =>
    `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
  const side = Math.min(bar, 11);
  for (let i = 0; i < run.places; i += 1) {
    const out = off.includes(i);
    const kind = out ? "out" : i === 0 ? "start" : i % 2 ? "attention" : "net";
    const y = at(i) - bar / 2;
    paths[`tb-bar tb-${kind}`] += rect(f.from, y, f.size(writes[i]) - f.from, bar);
    if (!Number.isNaN(cosines[i])) {
      const [a, b] = [f.cosine(0), f.cosine(cosines[i])].sort((x, z) => x - z);
      paths[`tb-bar tb-${kind}`] += rect(a, y, b - a, bar);
    }
    paths[out ? "tb-box" : "tb-box tb-counted"] += rect(3, at(i) - side / 2, side, side);
  }
  return paths;
}

function axes(f) {
  const [low, high] = f.powers;
  const every = Math.max(1, Math.ceil(((high - low) * 44) / (f.to - f.from)));
  const powers = [];
  for (let power = low; power <= high; power += every) powers.push(power);
  const line = (kind, x) => shape("line", { class: kind, x1: x, x2: x, y1: f.top - 4, y2: f.bottom });
  return [
    ...powers.flatMap((power) => [
      line("tb-grid", f.size(10 ** power)),
      label("tb-tick", f.size(10 ** power), f.top - 9, brief(10 ** power), "middle"),
    ]),
    line("tb-axis", f.cosine(0)),
    ...[-1, 1].map((end) => line("tb-grid", f.cosine(end))),
    label("tb-tick", f.cosine(0), f.top - 9, "cosine", "middle"),
    label("tb-tick", f.cosine(-1), f.bottom + 14, "−1", "middle"),
    label("tb-tick", f.cosine(1), f.bottom + 14, "1", "end"),
  ];
}

function nameRows(f, { run, place }, at) {
  const names = Array.from({ length: run.places }, (_, i) => partName(i));
  return spaced(names, place, f.down, 15).map(([name, i]) =>
    label(i === place ? "tb-tick tb-here" : "tb-tick", f.left, at(i) + 4, name),
  );
}

/** What the stream would say, where that changes and there is room for it. */
function saysOf(f, { says, place }, at) {
  const words = [];
  let last = -Infinity;
  says.forEach(([{ text }], i) => {
    const changed = i === 0 || text !== says[i - 1][0].text;
    if (i !== place && (!changed || at(i) - last < 14 || Math.abs(at(i) - at(place)) < 14)) return;
    last = at(i);
    const kind = i === place ? "tb-tick tb-here" : "tb-tick";
    words.push(label(kind, f.right + 10, at(i) + 4, short(tokenText(text))));
  });
  return [label("tb-tick", f.right + 10, f.top - 9, "would say"), ...words];
}

const short = (word) => (word.length > 11 ? `${word.slice(0, 10)}…` : word);
