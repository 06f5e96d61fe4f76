// The numbers and the words of the RMSNorm scope. The formulas are those of
// transformer_block/rmsnorm.py and layernorm.py; a test holds the two together.

import { brief, numbersOf, sayLag } from "./common.js";

export const mean = (row) => row.reduce((sum, x) => sum + x, 0) / row.length;
export const rms = (row) => Math.sqrt(mean(row.map((x) => x * x)));

/** RMS of the output for an input of RMS s, by the place of ε. */
export const outputRms = {
  absent: (s) => s / s,
  outside: (s, eps) => s / (s + eps),
  inside: (s, eps) => s / Math.sqrt(s * s + eps),
};

/** RMSNorm with ε inside the root and gain 1, equation (22.2). */
export function rmsnorm(row, eps) {
  const inverse = 1 / Math.sqrt(mean(row.map((x) => x * x)) + eps);
  return row.map((x) => x * inverse);
}

/** LayerNorm with gain 1 and bias 0: RMSNorm of the centred row. */
export function layernorm(row, eps) {
  const centre = mean(row);
  return rmsnorm(
    row.map((x) => x - centre),
    eps,
  );
}

/** Work out all that the picture shows from what the model holds. */
export function look({ vector, scale, eps, yours }) {
  const input = vector.map((x) => scale * x);
  return {
    vector,
    scale,
    eps,
    yours: yours.name ? heard(yours) : null,
    input,
    size: rms(input),
    outputs: { rmsnorm: rmsnorm(input, eps), layernorm: layernorm(input, eps) },
  };
}

/** The rows of output that are shown beside each other. */
export function seriesOf({ outputs, yours }) {
  return yours?.bars ? { ...outputs, yours: yours.bars } : outputs;
}

const heard = ({ curve, bars, ...rest }) => ({
  ...rest,
  curve: numbersOf(curve),
  bars: numbersOf(bars),
});

/** Subtract the mean, rounded so that what is left of it does not show. */
export function centred(row) {
  const centre = mean(row);
  return row.map((x) => Number((x - centre).toFixed(12)));
}

/** Say what ε does at the present size of the input. */
export function sayEps({ size, eps }) {
  if (size === 0) return "A row of zeros: with ε it stays zeros, without ε it is 0/0.";
  const inside = outputRms.inside(size, eps);
  const outside = outputRms.outside(size, eps);
  return (
    `At an input RMS of ${brief(size)} and ε = ${brief(eps)} the output RMS is ${brief(inside)} ` +
    `with ε inside the root, ${brief(outside)} outside it, and 1 without ε. ` +
    verdict(inside < 0.99, outside < 0.99)
  );
}

function verdict(insideBites, outsideBites) {
  if (insideBites && outsideBites) return "Either way the output now shrinks with the input.";
  if (insideBites) return "Inside the root ε already holds the row down; outside it does not.";
  if (outsideBites) return "Outside the root ε already holds the row down; inside it does not.";
  return "The input is far above both knees, so ε hardly matters.";
}

/** Say how the two norms compare, or what the last push of a button changed. */
export function sayNorms({ input, outputs }, before) {
  if (before) {
    const [first, second] = ["rmsnorm", "layernorm"].map((norm) =>
      move(outputs[norm], before.series[norm]),
    );
    return `${before.done}: RMSNorm ${first}, LayerNorm ${second}.`;
  }
  const centre = tidy(mean(input), rms(input));
  if (centre === 0) return "The mean is 0, so RMSNorm and LayerNorm agree.";
  const gap = farthest(outputs.rmsnorm, outputs.layernorm);
  return `The input’s mean is ${brief(centre)}: the two norms differ by up to ${brief(gap, 2)}.`;
}

function move(after, before) {
  const distance = farthest(after, before);
  return distance < 5e-4 ? "stays where it was" : `moves by up to ${brief(distance, 2)}`;
}

const farthest = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

/** A number, or 0 when it is only rounding beside numbers of this size. */
export const tidy = (x, size) => (Math.abs(x) < 1e-9 * size ? 0 : x);

/** Say what became of the learner's own function, where that needs saying. */
export function sayYours({ yours, vector, scale, eps }) {
  return sayLag(yours, [scale, eps, ...vector], yours?.at ?? []);
}
