// The numbers and the words of the RoPE dial. The turn is that of transformer_block/rope.py; a test
// holds the two together.

import { brief, numbersOf } from "./common.js";

export const FARTHEST = 32;
export const SHIFTS = 100;

export const PAIRINGS = { interleaved: "Interleaved", half_split: "Half-split", mixed: "Mixed up" };

/** Which features make a pair, in one of the two layouts. */
export function pairsOf(K, layout) {
  const half = K / 2;
  return Array.from({ length: half }, (_, i) =>
    layout === "half_split" ? [i, i + half] : [2 * i, 2 * i + 1],
  );
}

/** How far pair i of a head turns at each step, in radians. */
export const frequency = (i, K, base) => base ** ((-2 * i) / K);

/** Turn every pair of a row by its angle at a position. */
export function turn(row, position, base, layout) {
  const out = [...row];
  pairsOf(row.length, layout).forEach(([a, b], i) => {
    const angle = position * frequency(i, row.length, base);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    out[a] = row[a] * cos - row[b] * sin;
    out[b] = row[a] * sin + row[b] * cos;
  });
  return out;
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Work out all that the picture shows from what the model holds. */
export function look({ query, key, query_at, key_at, shift, pairing, rope_base, yours }) {
  const K = query.length;
  const mixed = pairing === "mixed";
  const queryLayout = mixed ? "interleaved" : pairing;
  const keyLayout = mixed ? "half_split" : pairing;
  const turnedQuery = (position) => turn(query, position, rope_base, queryLayout);
  const turnedKey = (position) => turn(key, position, rope_base, keyLayout);
  const scoreAt = (m, n) => dot(turnedQuery(m), turnedKey(n));
  const [m, n] = [query_at + shift, key_at + shift];
  const [q, k] = [turnedQuery(m), turnedKey(n)];
  const [queryPairs, keyPairs] = [pairsOf(K, queryLayout), pairsOf(K, keyLayout)];
  const pick = (row, pair) => pair.map((i) => row[i]);
  const clocks = queryPairs.map((pair, i) => ({
    query: { features: pair, before: pick(query, pair), after: pick(q, pair) },
    key: { features: keyPairs[i], before: pick(key, keyPairs[i]), after: pick(k, keyPairs[i]) },
    frequency: frequency(i, K, rope_base),
    share: mixed ? null : dot(pick(q, pair), pick(k, pair)),
  }));
  return {
    K,
    query,
    key,
    pairing,
    mixed,
    m,
    n,
    shift,
    query_at,
    key_at,
    base: rope_base,
    distance: m - n,
    turned: { query: q, key: k },
    pairs: { query: queryPairs, key: keyPairs },
    clocks,
    score: dot(q, k),
    unmoved: scoreAt(query_at, key_at),
    byDistance: range(-FARTHEST, FARTHEST).map((distance) => scoreAt(n + distance, n)),
    byShift: range(0, SHIFTS).map((s) => scoreAt(query_at + s, key_at + s)),
    yours: yours.name ? heard(yours) : null,
  };
}

const heard = ({ shifts, distances, ...rest }) => ({
  ...rest,
  shifts: numbersOf(shifts),
  distances: numbersOf(distances),
});

/** Say how the hands stand. */
export function sayHands({ m, n, distance, clocks }) {
  const [first, last] = [clocks[0], clocks.at(-1)].map(({ frequency }) =>
    brief(Math.abs(distance) * frequency),
  );
  const apart =
    clocks.length === 1
      ? `by ${first} rad`
      : `by ${first} rad in the first pair, by ${last} in the last`;
  return distance === 0
    ? `Query and key are both at ${m}: every pair is turned by one angle.`
    : `The query is at ${m}, the key at ${n}: their hands are turned apart ${apart}.`;
}

/** Say what the score is, and what moving both has done to it. */
export function sayScore({ score, unmoved, shift, mixed, distance }) {
  const now = `At distance ${brief(distance)} the score is ${brief(score)}. `;
  if (shift === 0) return `${now}Now move both.`;
  if (!mixed)
    return `${now}Both have moved by ${shift}: every hand has turned, and the score stays.`;
  return (
    `${now}Before both moved by ${shift} it was ${brief(unmoved)}: with two layouts mixed up the ` +
    "distance alone no longer decides."
  );
}

/** What the learner's function was last run at, to compare with what is shown. */
export const stamp = ({ query_at, key_at, shift, base, query, key }) => [
  query_at,
  key_at,
  shift,
  base,
  ...query,
  ...key,
];
