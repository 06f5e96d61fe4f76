// Panel 1 of the gate scope: the curve on the gate above, its slope below, one marker through both.

import {
  chart,
  dragAlong,
  flag,
  flagOf,
  label,
  linePath,
  linearScale,
  redraw,
  remembered,
  rule,
  shape,
  swatch,
  ticks,
  tile,
} from "./charts.js";
import { brief, choice, clamp, fixed, html, panel, refill } from "./common.js";
import { CURVES, GATES, curvesOf } from "./gate_scope_numbers.js";

const VALUES = [-0.6, 4];
const SLOPES = [-0.2, 1.2];
const STEP = 0.05;

export const inSteps = (x) => Number((Math.round(x / STEP) * STEP).toFixed(2));

/** Build the panel; `change({ gate })` is called while a pointer drags the marker. */
export function curvePanel(life, { now, change, settle }) {
  const curves = chart(
    "The curves that can stand on a gate, and below them their slopes",
    "tb-draggable",
  );
  const tiles = html("div", { class: "tb-tiles" });
  const kinds = html("div", {});
  const width = life.widthOf(curves, settle);
  let frames;
  let picker;
  const paths = remembered((across, yours) => pathsOf(framesOf(across), curvesOf(yours)));
  dragAlong(life, curves, (px) =>
    change({ gate: inSteps(clamp(frames.value.x.invert(px), ...GATES)) }),
  );
  return {
    node: panel(
      "The gate’s curve",
      "Drag the line: what the gate opens to, and below the slope of the curve",
      kinds,
      curves,
      tiles,
    ),
    show(now) {
      frames = framesOf(width());
      picker = pickerFor(life, now, change, kinds, picker);
      picker.show(now.curve);
      redraw(curves, frames, draw(frames, now, paths(width(), now.yours)));
      refill(tiles, ...tilesOf(now));
    },
  };
}

/** The curves to choose from; a function of the learner may join them or go. */
function pickerFor(life, { curves }, change, place, picker) {
  if (picker?.kinds === Object.keys(curves).join()) return picker;
  const options = Object.entries(curves).map(([kind, { name }]) => [
    kind,
    [swatch("line", `tb-line tb-${kind}`), name],
  ]);
  const fresh = choice(life, "The curve on the gate", Object.fromEntries(options), (curve) =>
    change({ curve }),
  );
  place.replaceChildren(fresh.node);
  return { ...fresh, kinds: Object.keys(curves).join() };
}

function framesOf(width) {
  const [above, below] = [Math.round(clamp(width * 0.4, 190, 270)), 104];
  const area = { width, left: 30, right: width - 10 };
  const x = linearScale(GATES, [area.left, area.right]);
  const value = {
    ...area,
    x,
    top: 22,
    bottom: 22 + above,
    y: linearScale(VALUES, [22 + above, 22]),
  };
  const top = value.bottom + 34;
  const slope = {
    ...area,
    x,
    top,
    bottom: top + below,
    y: linearScale(SLOPES, [top + below, top]),
  };
  return { value, slope, width, height: slope.bottom + 46 };
}

function draw({ value, slope, height }, now, paths) {
  const here = flagOf(slope, slope.x(now.gate), brief(now.gate));
  const order = Object.keys(now.curves).sort((a, b) => (a === now.curve) - (b === now.curve));
  const places = [-6, -4, -2, 0, 2, 4].map((gate) => [slope.x(gate), brief(gate)]);
  return [
    ...[0, 1, 2, 3, 4].flatMap((y) => rule(value, y)),
    ...[0, 0.5, 1].flatMap((y) => rule(slope, y)),
    ...ticks(slope, places, here),
    label("tb-axis-name", 0, 10, "↑ opened gate"),
    label("tb-axis-name", 0, slope.top - 10, "↑ slope"),
    label("tb-axis-name", slope.right, height - 4, "gate →", "end"),
    ...order.flatMap((kind) =>
      paths[kind].map((d) => shape("path", { class: lookOf(kind, now), d })),
    ),
    shape("line", { class: "tb-marker", x1: here.x, x2: here.x, y1: value.top, y2: slope.bottom }),
    ...flag(slope, here),
    ...order.flatMap((kind) => dots(value, slope, kind, now)),
    ...readings(value, slope, now),
  ];
}

const CLEAR = 0.6; // left of the middle no curve and no slope comes so high

/** What the chosen curve gives here stands by its two dots: on the left, where all curves lie below. */
function readings(value, slope, now) {
  const at = value.x(now.gate);
  const [x, anchor] = at > value.left + 130 ? [at - 12, "end"] : [at + 12, "start"];
  return [
    [value, now.open, "opens to"],
    [slope, now.slope, "slope"],
  ]
    .filter(([, y]) => Number.isFinite(y))
    .map(([frame, y, words]) => {
      const height = Math.max(frame.top + 4, frame.y(Math.max(y, CLEAR)) - 12);
      return label(`tb-name tb-${now.curve}`, x, height, `${words} ${fixed(y)}`, anchor);
    });
}

const lookOf = (kind, { curve }) =>
  `tb-line tb-${kind} ${kind === curve ? "tb-chosen" : "tb-beside"}`;

/** The curves and their slopes as paths: they stay while the hands move, and cost most. */
function pathsOf({ value, slope }, curves) {
  const both = ({ value: f, slope: g }) => [pointsOf(value, f), pointsOf(slope, g)].map(linePath);
  return Object.fromEntries(Object.entries(curves).map(([kind, curve]) => [kind, both(curve)]));
}

function pointsOf(frame, f) {
  const steps = Math.ceil((frame.right - frame.left) / 2);
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = frame.left + ((frame.right - frame.left) * i) / steps;
    return [x, clamp(frame.y(f(frame.x.invert(x))), frame.top - 8, frame.bottom)];
  });
}

function dots(value, slope, kind, now) {
  const { open, slope: steep } = now.all[kind];
  const chosen = kind === now.curve;
  return [
    [value, open],
    [slope, steep],
  ]
    .filter(([, y]) => Number.isFinite(y))
    .map(([frame, y]) =>
      shape("circle", {
        class: `tb-dot tb-${kind}`,
        cx: frame.x(now.gate),
        cy: clamp(frame.y(y), frame.top - 8, frame.bottom),
        r: chosen ? 6 : 4,
      }),
    );
}

function tilesOf({ curve: kind, open, slope, product }) {
  const name = CURVES[kind]?.name ?? "your curve";
  return [
    tile(kind, "opens to", `${name} of the gate`, open),
    tile(kind, "slope", `of ${name} there`, slope),
    tile("product", "product", "opened gate × up", product),
  ];
}
