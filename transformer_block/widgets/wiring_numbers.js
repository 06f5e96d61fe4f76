// The numbers and the words of the wiring. Python has measured; this looks up.

import { brief, clamp, numbersFrom } from "./common.js";

export const DEEPEST = 64;
export const WEIGHTS = { small: "Small weights", middle: "Middle", large: "Large" };
export const ORDERS = {
  pre: { name: "Pre-norm", formula: "x + f(norm(x))" },
  post: { name: "Post-norm", formula: "norm(x + f(x))" },
  none: { name: "No residual", formula: "f(norm(x))" },
};
const STREAMS = DEEPEST + 1;
const GRADIENTS = (DEEPEST * (DEEPEST + 3)) / 2;

/** Where the gradients of a stack of this depth begin: after those of all shallower ones. */
export const beginOf = (depth) => ((depth - 1) * (depth + 2)) / 2;

/** Work out all that the picture shows from what the model holds. */
export function look({ depth, layer, order, weights, streams, gradients, yours }) {
  const [allStreams, allGradients] = [streams, gradients].map((view) =>
    numbersFrom(view, Float32Array),
  );
  const size = Object.keys(WEIGHTS).indexOf(weights);
  const sizes = Object.keys(WEIGHTS).length;
  const kinds = [...Object.keys(ORDERS), "yours"].slice(0, allStreams.length / (sizes * STREAMS));
  const at = clamp(layer, 0, depth);
  const series = kinds.map((kind, i) => {
    const row = i * sizes + size;
    const stream = allStreams.slice(row * STREAMS, row * STREAMS + depth + 1);
    const from = row * GRADIENTS + beginOf(depth);
    const gradient = allGradients.slice(from, from + depth + 1);
    const name = ORDERS[kind]?.name ?? yours.name;
    return { kind, name, stream, gradient, streamHere: stream[at], gradientHere: gradient[at] };
  });
  const chosen = kinds.includes(order) ? order : "pre";
  return { depth, layer: at, weights, chosen, series, message: yours.message ?? "" };
}

/** Write the sizes of all wirings one after the other: "1.2 with pre-norm, 3 with post-norm". */
const list = (series, pick) =>
  series.map((one) => `${brief(pick(one), 2)} ${WITH[one.kind] ?? `with ${one.name}`}`).join(", ");

const WITH = { pre: "with pre-norm", post: "with post-norm", none: "without residuals" };

const place = (layer) => (layer === 0 ? "below the first block" : `after block ${layer}`);

/** Say how large the stream is at the layer, or at the top while the layer is where it begins. */
export function sayStream({ series, layer, depth }) {
  const at = layer || depth;
  const sizes = list(series, ({ stream }) => stream[at]);
  return `The stream begins with an RMS of 1. ${sentence(place(at))} it is ${sizes}.`;
}

const sentence = (words) => words[0].toUpperCase() + words.slice(1);

/** Say how large the gradient is, and by how much a block changes it. */
export function sayGradient({ series, layer, depth, chosen }) {
  const one = series.find(({ kind }) => kind === chosen);
  const factor = one.gradient[0] ** (1 / depth);
  return (
    `A gradient of RMS 1 enters above block ${depth}. ${sentence(place(layer))} it is ` +
    `${list(series, ({ gradientHere }) => gradientHere)}. ${one.name}: ${perBlock(one.gradient[0], factor)}`
  );
}

function perBlock(bottom, factor) {
  if (!Number.isFinite(bottom)) return "the gradient does not survive.";
  if (bottom === 0) return "nothing of the gradient arrives.";
  return `on average each block multiplies it by ${brief(factor, 3)}, ${brief(bottom, 2)} in all.`;
}
