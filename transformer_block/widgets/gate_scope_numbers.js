// The numbers and the words of the gate scope. The formulas are those of
// transformer_block/swiglu.py and gelu.py; a test holds the two together.

import { brief, numbersOf } from "./common.js";

export const GATES = [-6, 4];
export const UPS = [-4, 4];

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const SLOPE = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;
const tanhOf = (x) => Math.tanh(SLOPE * x * (1 + CUBIC * x * x));

/** The curves that can stand on a gate, each with its slope. */
export const CURVES = {
  silu: {
    name: "SiLU",
    value: (x) => x * sigmoid(x),
    slope: (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x))),
  },
  gelu: {
    name: "GELU",
    value: (x) => 0.5 * x * (1 + tanhOf(x)),
    slope(x) {
      const t = tanhOf(x);
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (SLOPE * (1 + 3 * CUBIC * x * x));
    },
  },
  relu: { name: "ReLU", value: (x) => Math.max(x, 0), slope: (x) => (x > 0 ? 1 : 0) },
  sigmoid: { name: "sigmoid", value: sigmoid, slope: (x) => sigmoid(x) * (1 - sigmoid(x)) },
};

/** A function known at evenly spread gates: exact there, a straight line between. */
function sampled(row) {
  const samples = numbersOf(row);
  return (x) => {
    const place = ((x - GATES[0]) / (GATES[1] - GATES[0])) * (samples.length - 1);
    const i = Math.round(place);
    if (Math.abs(place - i) < 1e-9) return samples[i];
    const low = Math.floor(place);
    return samples[low] + (place - low) * (samples[low + 1] - samples[low]);
  };
}

/** All curves that there are to choose from. */
export function curvesOf({ values, slopes }) {
  if (!values) return CURVES;
  return { ...CURVES, yours: { name: "yours", value: sampled(values), slope: sampled(slopes) } };
}

/** Work out all that the picture shows: what passes, and what a gradient of 1 becomes. */
export function look({ gate, up, curve, yours }) {
  const curves = curvesOf(yours);
  const paths = Object.entries(curves).map(([kind, { value, slope }]) => {
    const open = value(gate);
    return [
      kind,
      { open, slope: slope(gate), product: open * up, toUp: open, toGate: up * slope(gate) },
    ];
  });
  const all = Object.fromEntries(paths);
  const shown = curves[curve] ? curve : "silu";
  return {
    gate,
    up,
    curves,
    all,
    curve: shown,
    yours,
    message: yours.message ?? "",
    ...all[shown],
  };
}

/** Say above the area what it shows. */
export function sayArea({ up, open, product }) {
  if (!Number.isFinite(product)) return "No number comes out here";
  if (up === 0) return "Nothing comes along the up path";
  if (open === 0) return `The gate is shut: nothing of ${brief(up)} passes`;
  return `The gate makes ${brief(product)} of ${brief(up)}`;
}

/** Say what the gate lets through. */
export function sayProduct({ gate, up, curve, curves, open, product }) {
  return (
    `A gate of ${brief(gate)} under ${curves[curve].name} opens to ${brief(open)}. ` +
    `Of ${brief(up)} on the up path it makes ${brief(product)}.`
  );
}

const SMALL = 0.01; // of the gradient that comes in: what is below hardly teaches anything

/** Say where a gradient goes, and who learns from it. */
export function sayGradient({ gate, up, curve, toUp, toGate }) {
  const shares = `A gradient of 1 on the product sends ${brief(toUp)} to up and ${brief(toGate)} to the gate. `;
  const [upLearns, gateLearns] = [toUp, toGate].map((share) => Math.abs(share) >= SMALL);
  return shares + verdict(upLearns, gateLearns, { gate, up, curve });
}

function verdict(upLearns, gateLearns, { gate, up, curve }) {
  if (upLearns && gateLearns)
    return gate < 0 ? "Nearly shut, and yet both paths learn." : "Both paths learn.";
  if (upLearns && up === 0) return "With nothing to let through, the gate learns nothing.";
  if (upLearns) return "Up learns; the gate hardly does.";
  if (gateLearns) return "The gate can learn; the path it shuts out cannot.";
  const dead = curve === "relu" && gate <= 0;
  return dead
    ? "ReLU is flat here: neither path learns from this token."
    : "Hardly anything is left for either path.";
}
