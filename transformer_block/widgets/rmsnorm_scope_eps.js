// Panel 1 of the RMSNorm scope: the RMS of the output against the RMS of the input.

import {
  axisNames,
  chart,
  curve,
  dragAlong,
  flag,
  flagOf,
  label,
  linePath,
  linearScale,
  powerOfTen,
  redraw,
  remembered,
  rule,
  shape,
  ticks,
  tile,
} from "./charts.js";
import { brief, clamp, html, panel, refill, twoDigits } from "./common.js";
import { outputRms, rms } from "./rmsnorm_scope_numbers.js";

export const SIZE_POWERS = [-8, 3]; // powers of ten of the input's RMS, and of the input scale

const FORMS = {
  inside: {
    name: "ε inside",
    short: "inside",
    long: "ε inside the root",
    formula: "s / √(s² + ε)",
  },
  outside: {
    name: "ε outside",
    short: "outside",
    long: "ε outside the root",
    formula: "s / (s + ε)",
  },
  absent: {
    name: "no ε",
    short: "no ε",
    long: "no ε: 1 at every size, 0/0 at zero",
    formula: "s / s",
  },
};

// The size of an input whose output has RMS y: outputRms read backwards.
const SIZE_AT = {
  inside: (y, eps) => (Math.sqrt(eps) * y) / Math.sqrt(1 - y * y),
  outside: (y, eps) => (eps * y) / (1 - y),
};
const ORDER = ["absent", "outside", "inside"]; // of drawing: what matters most lies on top

/** Build the panel; `change({ scale })` is called while a pointer drags the marker. */
export function epsPanel(life, { now, change, settle }) {
  const curves = chart(CHART_NAME, "tb-draggable");
  const tiles = html("div", { class: "tb-tiles" });
  const width = life.widthOf(curves, settle);
  let frame;
  const paths = remembered((across, eps) => pathsOf(frameOf(across), eps));
  dragAlong(life, curves, (px) => {
    const size = 10 ** clamp(frame.x.invert(px), ...SIZE_POWERS);
    const perScale = rms(now().vector);
    if (perScale > 0) change({ scale: twoDigits(size / perScale) });
  });
  return {
    node: panel("What ε does", "How large the output is, for an input of each size", curves, tiles),
    show(now) {
      frame = frameOf(width());
      redraw(curves, frame, draw(frame, now, paths(width(), now.eps)));
      refill(tiles, ...tilesOf(now));
    },
  };
}

const CHART_NAME = "RMS of the output by RMS of the input: ε inside the root, ε outside, no ε";

function frameOf(width) {
  const height = Math.round(clamp(width * 0.46, 220, 330));
  const area = { left: 30, right: width - 10, top: 26, bottom: height - 46 };
  const x = linearScale(SIZE_POWERS, [area.left, area.right]);
  const y = linearScale([0, 1.1], [area.bottom, area.top]);
  return { width, height, ...area, x, y, wide: width >= 520 };
}

function draw(f, now, paths) {
  const lines = ORDER.map((form, i) => shape("path", { class: `tb-line tb-${form}`, d: paths[i] }));
  if (now.yours?.curve) lines.push(curve("tb-yours", yourPoints(f, now.yours)));
  const here = flagOf(f, f.x(clamp(Math.log10(now.size), ...SIZE_POWERS)), brief(now.size));
  return [
    ...axes(f, here),
    ...lines,
    ...knees(f, now.eps),
    ...curveNames(f, now.eps, here),
    ...marker(f, now, here),
  ];
}

/** The curves as paths: they stay while the input moves, and cost most. */
const pathsOf = (f, eps) => ORDER.map((form) => linePath(pointsOf(f, outputRms[form], eps)));

function pointsOf(f, form, eps) {
  const steps = Math.ceil((f.right - f.left) / 2);
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = f.left + ((f.right - f.left) * i) / steps;
    return [x, f.y(form(10 ** f.x.invert(x), eps))];
  });
}

function yourPoints(f, { curve: sizes, powers }) {
  const power = linearScale([0, sizes.length - 1], powers);
  return sizes.map((s, i) => [f.x(power(i)), clamp(f.y(s), f.top, f.bottom)]);
}

function axes(f, here) {
  const every = Math.ceil(38 / (f.x(1) - f.x(0)));
  const powers = [];
  for (let power = SIZE_POWERS[1] - 1; power >= SIZE_POWERS[0]; power -= every) powers.push(power);
  return [
    ...[0, 0.5, 1].flatMap((y) => rule(f, y)),
    ...ticks(
      f,
      powers.map((power) => [f.x(power), powerOfTen(power)]),
      here,
    ),
    ...axisNames(f, "RMS of the output", "RMS of the input"),
  ];
}

/** Where each curve bends: at RMS = ε with ε outside the root, at √ε with it inside. */
function knees(f, eps) {
  return [
    { form: "outside", s: eps, y: 0.5, name: "ε", lift: 7 },
    { form: "inside", s: Math.sqrt(eps), y: Math.SQRT1_2, name: "√ε", lift: 23 },
  ]
    .filter(({ s }) => s >= 10 ** SIZE_POWERS[0])
    .flatMap(({ form, s, y, name, lift }) => {
      const x = f.x(Math.log10(s));
      return [
        shape("line", { class: `tb-drop tb-${form}`, x1: x, x2: x, y1: f.y(y), y2: f.bottom }),
        shape("circle", { class: `tb-knee tb-${form}`, cx: x, cy: f.y(y), r: 3.5 }),
        label(`tb-name tb-${form}`, x + 5, f.bottom - lift, name),
      ];
    });
}

/** Each curve carries its name: no ε on top, the left curve on its left, the right on its right. */
function curveNames(f, eps, here) {
  const level = f.wide ? 0.4 : 0.6;
  const swapped = SIZE_AT.inside(level, eps) < SIZE_AT.outside(level, eps); // ε is near 1
  const [first, second] = swapped ? ["inside", "outside"] : ["outside", "inside"];
  const name = (form, x, y, anchor) =>
    label(`tb-name tb-${form}`, x, f.y(y) + 4, FORMS[form][f.wide ? "long" : "short"], anchor);
  const x = (form, y) => f.x(Math.max(Math.log10(SIZE_AT[form](y, eps)), SIZE_POWERS[0]));
  const low = Math.max(0.4, outputRms[first](10 ** SIZE_POWERS[0], eps) - 0.2);
  const length = f.wide ? 130 : 56;
  return [
    name("absent", pass(f, f.left + 4, here.x, f.wide ? 220 : 40), 1.055),
    x(first, level) - f.left > length
      ? name(first, x(first, level) - 10, level, "end")
      : name(first, x(first, low) + 10, low),
    name(second, pass(f, x(second, level) + 12, here.x, length), level),
  ];
}

/** Start words past the marker if it would stand in them and there is room behind it. */
function pass(f, x, marker, length) {
  const inTheWay = marker > x - 6 && marker < x + length;
  return inTheWay && marker + 10 + length < f.right ? marker + 10 : x;
}

function marker(f, { size, eps }, here) {
  if (size === 0) return [];
  const { x } = here;
  const dot = (form) =>
    shape("circle", {
      class: `tb-dot tb-${form}`,
      cx: x,
      cy: f.y(outputRms[form](size, eps)),
      r: 5.5,
    });
  return [
    shape("line", { class: "tb-marker", x1: x, x2: x, y1: f.top, y2: f.bottom }),
    ...ORDER.map(dot),
    ...flag(f, here),
  ];
}

function tilesOf({ size, eps, yours }) {
  const tiles = Object.entries(FORMS).map(([form, { name, formula }]) =>
    tile(form, name, formula, outputRms[form](size, eps)),
  );
  if (yours?.bars) tiles.push(tile("yours", "yours", yours.name, rms(yours.bars)));
  return tiles;
}
