// Panel 1 of the gradient-check dial: the error over the step, and the two lines that bound it.

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
import { brief, choice, clamp, html, panel, refill } from "./common.js";
import { POWERS, powerAt } from "./gradcheck_dial_numbers.js";

const ERRORS = [-13, 0]; // powers of ten of the relative error
const PASS = -7;
const FAIL = -4;

/** Build the panel; `change({ step })` is called while a pointer drags the marker. */
export function errorPanel(life, { change, settle }) {
  const errors = chart(
    "The relative error of a gradient check over the step, in float64 and float32",
    "tb-draggable",
  );
  const tiles = html("div", { class: "tb-tiles" });
  const cases = html("div", {});
  const width = life.widthOf(errors, settle);
  let frame;
  let picker;
  dragAlong(life, errors, (px) => change({ step: stepAt(clamp(frame.x.invert(px), ...POWERS)) }));
  return {
    node: panel(
      "How good is the check?",
      "Drag the line: half the distance of the two losses that are compared",
      cases,
      errors,
      tiles,
    ),
    show(now) {
      const names = JSON.stringify(now.names);
      if (picker?.names !== names) {
        picker = {
          ...choice(life, "What is checked", now.names, (kind) => change({ case: kind })),
          names,
        };
        cases.replaceChildren(picker.node);
      }
      picker.show(now.kind);
      frame = frameOf(width());
      redraw(errors, frame, draw(frame, now));
      refill(tiles, ...now.series.map(tileOf));
    },
  };
}

/** A step of the scale that Python has measured. */
export const stepAt = (power) => Number((10 ** (Math.round(power * 10) / 10)).toPrecision(12));

function frameOf(width) {
  const height = Math.round(clamp(width * 0.56, 260, 380));
  const area = { left: 42, right: width - 10, top: 26, bottom: height - 46 };
  const x = linearScale(POWERS, [area.left, area.right]);
  const y = linearScale(ERRORS, [area.bottom, area.top]);
  return { width, height, ...area, x, y, wide: width >= 520 };
}

function draw(f, now) {
  const here = flagOf(f, f.x(powerAt(now.place)), brief(now.step, 2));
  const every = f.wide ? 1 : 3;
  const places = [];
  for (let power = POWERS[0]; power <= POWERS[1]; power += every)
    places.push([f.x(power), powerOfTen(power)]);
  return [
    ...bands(f),
    ...[0, -3, -6, -9, -12].flatMap((power) => level(f, power)),
    ...ticks(f, places, here),
    ...axisNames(f, "relative error", "step"),
    ...straightLines(f, now),
    ...now.series.map(({ dtype, errors }) => curve(`tb-${dtype}`, points(f, errors))).reverse(),
    shape("line", { class: "tb-marker", x1: here.x, x2: here.x, y1: f.top, y2: f.bottom }),
    ...now.series
      .filter(({ error }) => Number.isFinite(error))
      .map(({ dtype, error }) =>
        shape("circle", {
          class: `tb-dot tb-${dtype}`,
          cx: here.x,
          cy: heightOf(f, error),
          r: 5.5,
        }),
      )
      .reverse(),
    ...flag(f, here),
  ];
}

/** An error of zero stands at the bottom, and none above the top. */
const heightOf = (f, error) =>
  Number.isFinite(error) ? f.y(clamp(Math.log10(error), ...ERRORS)) : NaN;

const points = (f, errors) => [...errors].map((error, i) => [f.x(powerAt(i)), heightOf(f, error)]);

function bands(f) {
  const band = (kind, low, high) =>
    shape("rect", {
      class: `tb-zone ${kind}`,
      x: f.left,
      y: f.y(high),
      width: f.right - f.left,
      height: f.y(low) - f.y(high),
    });
  return [
    band("tb-pass", ERRORS[0], PASS),
    band("tb-fail", FAIL, ERRORS[1]),
    label("tb-zone-name", f.left + 6, f.bottom - 8, "a pass"),
    label("tb-zone-name", f.left + 6, f.y(FAIL) - 6, "a fail"),
  ];
}

function level(f, power) {
  const at = f.y(power);
  return [
    shape("line", { class: "tb-grid", x1: f.left, x2: f.right, y1: at, y2: at }),
    label("tb-tick", f.left - 7, at + 4, powerOfTen(power), "end"),
  ];
}

/** Straight on these axes: truncation grows like step², round-off like 1 / step. */
function straightLines(f, { truncation, series }) {
  const lines = [{ kind: "tb-truncation", at: (power) => Math.log10(truncation) + 2 * power }];
  for (const { dtype, roundOff } of series)
    lines.push({ kind: `tb-roundoff tb-${dtype}`, at: (power) => Math.log10(roundOff) - power });
  return lines.flatMap(({ kind, at }) => {
    const seen = Array.from({ length: 111 }, (_, i) => [powerAt(i), at(powerAt(i))]).filter(
      ([, y]) => y >= ERRORS[0] && y <= ERRORS[1],
    );
    return seen.length
      ? [
          curve(
            kind,
            seen.map(([x, y]) => [f.x(x), f.y(y)]),
          ),
        ]
      : [];
  });
}

function tileOf({ dtype, error, best, bestError }) {
  const note = `at best ${brief(bestError, 2)}, step ${brief(stepAt(powerAt(best)), 2)}`;
  return tile(dtype, dtype, note, error);
}
