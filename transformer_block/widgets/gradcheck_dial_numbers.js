// The numbers and the words of the gradient-check dial. Python has measured; this looks up.

import { brief, clamp, numbersFrom } from "./common.js";

export const POWERS = [-12, -1]; // of ten, of the step
export const DTYPES = ["float64", "float32"];
export const CASES = { right: "Right gradient", wrong: "A term forgotten", kink: "Near a kink" };
const STEPS = 111;
const DIGITS = { float64: 16, float32: 8 }; // decimals that are worth showing of a number below 10

/** The place of a step among those that Python has measured. */
export const placeOf = (step) =>
  clamp(Math.round((Math.log10(step) - POWERS[0]) * 10), 0, STEPS - 1);
export const powerAt = (place) => POWERS[0] + place / 10;

/** Work out all that the picture shows from what the model holds. */
export function look({ step, case: wanted, errors, losses, facts, yours }) {
  const kinds = [...Object.keys(CASES), "yours"].slice(0, facts.length);
  const kind = kinds.includes(wanted) ? wanted : "right";
  const which = kinds.indexOf(kind);
  const place = placeOf(step);
  const all = numbersFrom(errors, Float32Array);
  const values = numbersFrom(losses, Float64Array);
  const [slope, reach, truncation, ...roundOff] = facts[which];
  const series = DTYPES.map((dtype, i) => {
    const from = (2 * which + i) * STEPS;
    const row = all.slice(from, from + STEPS);
    const [above, below] = [0, 1].map(
      (side) => values[(2 * (2 * which + i) + side) * STEPS + place],
    );
    const best = bestOf(row);
    return {
      dtype,
      errors: row,
      error: row[place],
      above,
      below,
      best,
      bestError: row[best],
      roundOff: roundOff[i],
    };
  });
  const names = Object.fromEntries(kinds.map((k) => [k, CASES[k] ?? yours.name]));
  return {
    kind,
    names,
    step: 10 ** powerAt(place),
    place,
    slope,
    reach,
    truncation,
    series,
    message: yours.message ?? "",
  };
}

const bestOf = (row) => row.reduce((best, x, i) => (x < row[best] ? i : best), 0);

/** Two losses as text, cut where they begin to differ: `{ same, above, below }`. */
export function digitsOf({ dtype, above, below }) {
  const whole = Math.max(
    1,
    1 + Math.floor(Math.log10(Math.max(Math.abs(above), Math.abs(below), 1e-300))),
  );
  const decimals = clamp(DIGITS[dtype] - whole + 1, 0, 20);
  const [a, b] = [above, below].map((x) => x.toFixed(decimals).replace(/^-/, "−"));
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  return { same: a.slice(0, same), above: a.slice(same), below: b.slice(same), all: a.length };
}

/** How many digits the difference has left. */
export const digitsLeft = ({ above }) => above.replace(/\D/g, "").length;

/** Say what the check says at this step, and what rules it. */
export function sayErrors(now) {
  const [wide, narrow] = now.series;
  return (
    `With a step of ${brief(now.step, 2)} the relative error is ${brief(wide.error, 2)} in float64 and ` +
    `${brief(narrow.error, 2)} in float32. ${verdict(now, wide)}`
  );
}

function verdict({ kind, place, truncation }, { best, bestError }) {
  if (bestError > 1e-4) return `No step makes it small: the gradient is wrong.`;
  if (kind === "kink")
    return place > 80
      ? "The step reaches over the kink."
      : "The step stays on one side of the kink.";
  if (truncation && place > best + 5)
    return "Truncation rules: a step ten times smaller is a hundred times better.";
  if (place < best - 5)
    return "In float64 round-off rules: a step ten times smaller is about ten times worse.";
  return "In float64 this is about the best step.";
}

/** Say how many digits of the two losses are left for their difference. */
export function sayDigits({ series }) {
  const [wide, narrow] = series.map((one) => digitsLeft(digitsOf(one)));
  return `Of the digits of the two losses ${wide} differ in float64, and ${narrow} in float32: the difference has no more.`;
}
