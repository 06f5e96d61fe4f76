// The numbers and the words of the attention map.

import { clamp } from "./common.js";
import { tokenText } from "./maps.js";

/** Weights are stored from 0 to 255, so three digits would say more than there is. */
export const inHundredths = (weight) => weight.toFixed(2);

const below = (T) => (T * (T + 1)) / 2; // what the mask leaves of a square

/** A function that tells the weights of one text: `weight(layer, head, query, key)`. */
export function weightsOf({ text, texts, size: [layers, heads], weights }) {
  const i = texts.findIndex(({ name }) => name === text);
  const counts = texts.map(({ tokens }) => layers * heads * below(tokens.length));
  const begin = counts.slice(0, i).reduce((sum, count) => sum + count, 0);
  const bytes = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  const square = below(texts[i].tokens.length);
  return (layer, head, query, key) =>
    bytes[begin + (layer * heads + head) * square + below(query) + key] / 255;
}

/** Work out all that the picture shows; a query or key that the text does not have moves into it. */
export function look(state) {
  const { tokens } = state.texts.find(({ name }) => name === state.text);
  const [layers, heads] = state.size;
  const weight = weightsOf(state);
  const query = clamp(state.query, 0, tokens.length - 1);
  const key = clamp(state.key, 0, query);
  const [layer, head] = [clamp(state.layer, 0, layers - 1), clamp(state.head, 0, heads - 1)];
  const row = Array.from({ length: query + 1 }, (_, k) => weight(layer, head, query, k));
  const pair = Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_, h) => weight(l, h, query, key)),
  );
  return { ...state, tokens, layers, heads, layer, head, query, key, weight, row, pair };
}

/** Over how many tokens a row of weights is spread: e to its entropy, 1 if it is all on one. */
export function spread(row) {
  const total = row.reduce((sum, w) => sum + w, 0);
  const entropy = row.reduce((sum, w) => (w ? sum - (w / total) * Math.log(w / total) : sum), 0);
  return Math.exp(entropy);
}

/** The layer and head for which a measure of them is largest; the first of equals. */
export function strongest({ layers, heads }, measure) {
  let best = { layer: 0, head: 0, value: -Infinity };
  for (let layer = 0; layer < layers; layer += 1)
    for (let head = 0; head < heads; head += 1) {
      const value = measure(layer, head);
      if (value > best.value + 1e-12) best = { layer, head, value };
    }
  return { layer: best.layer, head: best.head };
}

const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
const positions = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

/** The mean weight that a head gives to the pairs [query, key] of a list. */
export const meanOver =
  ({ weight }, pairs) =>
  (layer, head) =>
    mean(pairs.map(([query, key]) => weight(layer, head, query, key)));

/** What heads are looked for: lists of pairs, empty where a text has none. */
export function habitsOf(tokens) {
  const T = tokens.length;
  const followers = positions(2, T).flatMap((query) => {
    const before = tokens.slice(0, query - 1).lastIndexOf(tokens[query]);
    return before > 0 ? [[query, before + 1]] : []; // the first token is a place of rest
  });
  return {
    before: positions(2, T).map((query) => [query, query - 1]),
    first: positions(2, T).map((query) => [query, 0]),
    followers,
  };
}

/** Say what the chosen head does with the chosen pair. */
export function sayPair({ tokens, layer, head, query, key, row, pair }) {
  const named = (i) => `token ${i}, “${tokenText(tokens[i])}”`;
  const most = row.indexOf(Math.max(...row));
  const rank = most === key ? "more than to any other" : `most, ${inHundredths(row[most])}, goes to ${named(most)}`;
  const strong = pair.flat().filter((w) => w >= 0.5).length;
  const all = pair.length * pair[0].length;
  const heads = strong === 1 ? "1 head gives" : `${strong} heads give`;
  return (
    `Block ${layer}, head ${head}: ${named(query)} gives ${inHundredths(row[key])} of its attention ` +
    `to ${named(key)}; ${rank}. Of all ${all}, ${heads} this pair half or more.`
  );
}
