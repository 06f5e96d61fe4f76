// Panels 2 and 3 of the wiring: the size of the gradient and of the stream after every block.

import {
  axisNames,
  chart,
  curve,
  dragAlong,
  flag,
  flagOf,
  label,
  linearScale,
  powerOfTen,
  redraw,
  shape,
  ticks,
  tile,
} from "./charts.js";
import { brief, clamp, html, panel, refill } from "./common.js";

const FURTHEST = 14; // decades; what is beyond stands at the edge

/** Build one of the panels; `change({ layer })` is called while a pointer drags the marker. */
export function sizePanel(life, { now, change, settle }, { of, title, subtitle, name, up }) {
  const sizes = chart(name, "tb-draggable");
  const tiles = html("div", { class: "tb-tiles" });
  const width = life.widthOf(sizes, settle);
  let frame;
  dragAlong(life, sizes, (px) =>
    change({ layer: Math.round(clamp(frame.x.invert(px), 0, now().depth)) }),
  );
  return {
    node: panel(title, subtitle, sizes, tiles),
    show(seen) {
      frame = frameOf(width(), seen, of);
      redraw(sizes, frame, draw(frame, seen, of, up));
      refill(
        tiles,
        ...seen.series.map((one) =>
          tile(one.kind, one.name, wordsAt(seen.layer), one[`${of}Here`]),
        ),
      );
    },
  };
}

const wordsAt = (layer) => (layer ? `after block ${layer}` : "below block 1");

/** The powers of ten between which all sizes lie, and 1 with them. */
export function decades(series, of) {
  const powers = series
    .flatMap((one) => [...one[of]])
    .filter((x) => x > 0 && Number.isFinite(x))
    .map(Math.log10);
  const almost = 0.02; // a size of 0.99999 needs no decade of its own
  const low = Math.max(-FURTHEST, Math.floor(Math.min(0, ...powers) + almost));
  const high = Math.min(FURTHEST, Math.max(low + 1, Math.ceil(Math.max(0, ...powers) - almost)));
  return [low, high];
}

function frameOf(width, { depth, series }, of) {
  const height = Math.round(clamp(width * 0.42, 210, 290));
  const area = { left: 42, right: width - 12, top: 26, bottom: height - 46 };
  const span = decades(series, of);
  const x = linearScale([0, depth], [area.left, area.right]);
  const y = linearScale(span, [area.bottom - 14, area.top]);
  return { width, height, ...area, span, x, y };
}

function draw(f, { depth, layer, series, chosen }, of, up) {
  const here = flagOf(f, f.x(layer), brief(layer));
  const order = [...series].sort((a, b) => (a.kind === chosen) - (b.kind === chosen));
  return [
    ...levels(f),
    ...ticks(f, layers(f, depth), here),
    ...axisNames(f, up, "block"),
    ...order.map((one) =>
      curve(
        `tb-${one.kind} ${one.kind === chosen ? "tb-chosen" : "tb-beside"}`,
        points(f, one[of]),
      ),
    ),
    shape("line", { class: "tb-marker", x1: here.x, x2: here.x, y1: f.top, y2: f.bottom }),
    ...order
      .filter((one) => Number.isFinite(one[of][layer]))
      .map((one) =>
        shape("circle", {
          class: `tb-dot tb-${one.kind}`,
          cx: here.x,
          cy: heightOf(f, one[of][layer]),
          r: one.kind === chosen ? 6 : 4.5,
        }),
      ),
    ...flag(f, here),
  ];
}

const heightOf = (f, x) => (Number.isNaN(x) ? NaN : f.y(clamp(Math.log10(x), ...f.span)));
const points = (f, row) => [...row].map((x, i) => [f.x(i), heightOf(f, x)]);

/** Every power of ten, or every second, third … where they are many. */
function levels(f) {
  const every = Math.ceil((f.span[1] - f.span[0]) / 6);
  const powers = [];
  for (let power = f.span[0]; power <= f.span[1]; power += 1)
    if (power % every === 0) powers.push(power);
  return powers.flatMap((power) => [
    shape("line", {
      class: power ? "tb-grid" : "tb-axis",
      x1: f.left,
      x2: f.right,
      y1: f.y(power),
      y2: f.y(power),
    }),
    label("tb-tick", f.left - 7, f.y(power) + 4, powerOfTen(power), "end"),
  ]);
}

function layers(f, depth) {
  const every = [1, 2, 4, 8, 16, 32].find((step) => f.x(step) - f.x(0) > 34) ?? depth;
  const places = [];
  for (let layer = 0; layer <= depth; layer += every) places.push([f.x(layer), brief(layer)]);
  return places;
}
