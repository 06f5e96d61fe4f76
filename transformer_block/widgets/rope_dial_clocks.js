// Panel 1 of the RoPE dial: a clock for each pair, and the features that make the pairs.

import {
  chart,
  dragAlong,
  keyItem,
  label,
  linearScale,
  redraw,
  roundUp,
  rule,
  shape,
} from "./charts.js";
import { brief, choice, clamp, fixed, html, panel } from "./common.js";
import { PAIRINGS, SHIFTS } from "./rope_dial_numbers.js";

const HANDS = ["key", "query"]; // of drawing: the query lies on top
const CAPTION = 70;

/** Build the panel; `change({ shift })` is called while a clock is turned by hand. */
export function clockPanel(life, { now, change, settle }) {
  const dials = chart(
    "A clock for each pair: the hand of the query and the hand of the key",
    "tb-draggable tb-turnable",
  );
  const features = chart(
    "The features of query and key after the turn, and which of them make a pair",
  );
  const picker = choice(life, "Layout of the pairs", PAIRINGS, (pairing) => change({ pairing }));
  const width = life.widthOf(dials, settle);
  let places = [];
  let held = null;
  dragAlong(life, dials, (x, y, begins) => {
    if (begins) held = grasp(places, now(), x, y);
    else if (held) change({ shift: turnOn(held, x, y) });
  });
  return {
    node: panel(
      "Each pair is a clock",
      "Turn a clock by hand: it moves both tokens on, and all other clocks with it",
      picker.node,
      html(
        "div",
        { class: "tb-key" },
        keyItem("line", "tb-hand tb-query", "query"),
        keyItem("line", "tb-hand tb-keyhand", "key"),
        keyItem("line", "tb-hand tb-raw", "before the turn"),
      ),
      dials,
      features,
    ),
    show(seen) {
      picker.show(seen.pairing);
      const frame = dialFrame(width(), seen);
      places = frame.places.map((place, i) => ({ ...place, frequency: seen.clocks[i].frequency }));
      redraw(
        dials,
        frame,
        seen.clocks.flatMap((clock, i) => drawClock(frame, frame.places[i], clock, i)),
      );
      const strip = stripFrame(width(), seen);
      redraw(features, strip, drawStrip(strip, seen));
    },
  };
}

/** Take hold of the clock under the pointer. */
function grasp(places, { shift }, x, y) {
  const distance = (place) => Math.hypot(x - place.x, y - place.y);
  const place = places.reduce((best, other) => (distance(other) < distance(best) ? other : best));
  return { place, shift, turned: 0, angle: angleAt(place, x, y) };
}

const angleAt = (place, x, y) => Math.atan2(place.y - y, x - place.x);

/** Where both tokens are, now that the clock has been turned as far as the pointer. */
function turnOn(held, x, y) {
  const angle = angleAt(held.place, x, y);
  const step = angle - held.angle;
  held.turned += step - 2 * Math.PI * Math.round(step / (2 * Math.PI)); // never past half a round
  held.angle = angle;
  return clamp(Math.round(held.shift + held.turned / held.place.frequency), 0, SHIFTS);
}

function dialFrame(width, { clocks }) {
  const across = Math.min(clocks.length, width >= 520 ? 4 : 2);
  const cell = width / across;
  const radius = Math.min(cell / 2 - 12, 72);
  const deep = 2 * radius + CAPTION + 12;
  const places = clocks.map((_, i) => ({
    x: cell * ((i % across) + 0.5),
    y: deep * Math.floor(i / across) + radius + 6,
  }));
  const sizes = clocks.flatMap(({ query, key }) =>
    [query, key].map(({ before }) => Math.hypot(...before)),
  );
  const unit = (radius - 6) / (Math.max(...sizes) || 1);
  return { width, height: deep * Math.ceil(clocks.length / across), places, radius, unit };
}

function drawClock({ radius, unit }, { x, y }, clock, i) {
  const tip = ([a, b]) => ({ x: x + unit * a, y: y - unit * b });
  const hand = (kind, values) => {
    const { x: x2, y: y2 } = tip(values);
    return shape("line", { class: `tb-hand ${kind}`, x1: x, y1: y, x2, y2 });
  };
  const dot = (kind, values) => {
    const { x: cx, y: cy } = tip(values);
    return shape("circle", { class: `tb-dot ${kind}`, cx, cy, r: 5 });
  };
  const kinds = { query: "tb-query", key: "tb-keyhand" };
  return [
    shape("circle", { class: "tb-face", cx: x, cy: y, r: radius }),
    shape("line", { class: "tb-grid", x1: x - radius, x2: x + radius, y1: y, y2: y }),
    shape("line", { class: "tb-grid", x1: x, x2: x, y1: y - radius, y2: y + radius }),
    ...HANDS.map((who) => hand(`tb-raw ${kinds[who]}`, clock[who].before)),
    ...HANDS.map((who) => hand(kinds[who], clock[who].after)),
    ...HANDS.map((who) => dot(kinds[who], clock[who].after)),
    ...captions(x, y + radius, clock, i),
  ];
}

function captions(x, y, { query, key, frequency, share }, i) {
  const same = query.features.join() === key.features.join();
  const pair = same
    ? query.features.join(", ")
    : `${query.features.join(", ")} | ${key.features.join(", ")}`;
  const gives = share === null ? "no share of its own" : `gives ${fixed(share)}`;
  const words = [`features ${pair}`, `${brief(frequency)} rad a step`, gives];
  return [
    label("tb-clock-name", x, y + 18, `pair ${i}`, "middle"),
    ...words.map((line, row) => label("tb-tick", x, y + 34 + 16 * row, line, "middle")),
  ];
}

const STRIP = { bars: 118, names: 22 };
const roomForArcs = (K) => 14 + 2.5 * K; // nested brackets, one for each of K / 2 pairs

function stripFrame(width, { K, query, key, mixed }) {
  const arcs = roomForArcs(K);
  const area = { left: 30, right: width - 4, top: arcs, bottom: arcs + STRIP.bars };
  const limit = roundUp(
    Math.max(0.1, ...longest(query), ...longest(key)),
    [1, 1.5, 2, 3, 4, 5, 6, 8, 10],
  );
  const column = (area.right - area.left) / K;
  return {
    width,
    ...area,
    limit,
    column,
    height: area.bottom + STRIP.names + (mixed ? arcs : 0),
    y: linearScale([-limit, limit], [area.bottom, area.top]),
    middle: (i) => area.left + column * (i + 0.5),
  };
}

/** No turn can make an entry longer than its pair; whatever the layout, the two largest bound it. */
const longest = (row) => {
  const [first, second] = row.map(Math.abs).sort((a, b) => b - a);
  return [Math.hypot(first, second)];
};

function drawStrip(f, { K, turned, pairs, mixed }) {
  const thick = Math.min(14, f.column / 2 - 3);
  const below = f.bottom + STRIP.names - 4;
  const indices = Array.from({ length: K }, (_, i) => i);
  return [
    ...[f.limit, 0, -f.limit].flatMap((y) => rule(f, y)),
    ...indices.flatMap((i) => [
      bar(f, "tb-query", f.middle(i) - thick - 0.5, thick, turned.query[i]),
      bar(f, "tb-keyhand", f.middle(i) + 0.5, thick, turned.key[i]),
      label("tb-tick", f.middle(i), f.bottom + 15, String(i), "middle"),
    ]),
    ...pairs.query.map((pair, i) =>
      arc(f, `tb-arc${mixed ? " tb-query" : ""}`, pair, i, f.top - 4, -1),
    ),
    ...(mixed ? pairs.key.map((pair, i) => arc(f, "tb-arc tb-keyhand", pair, i, below, 1)) : []),
  ];
}

function bar(f, kind, x, width, value) {
  const height = Math.abs(f.y(value) - f.y(0));
  return shape("rect", {
    class: `tb-bar ${kind}`,
    x,
    y: Math.min(f.y(value), f.y(0)),
    width,
    height,
  });
}

/** A bracket that joins the two members of a pair. */
function arc(f, kind, [a, b], i, y, side) {
  const far = y + side * (6 + (b - a > 1 ? 5 * i : 4));
  const [x1, x2] = [f.middle(a), f.middle(b)];
  return shape("path", { class: kind, d: `M${x1} ${y}V${far}H${x2}V${y}` });
}
