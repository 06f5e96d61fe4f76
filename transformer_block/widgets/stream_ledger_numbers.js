// The numbers of the stream ledger: sums of what is counted, and what they would say.

import { clamp } from "./common.js";
import { unpacked } from "./packed.js";

const kept = new WeakMap();

/** Open one run of all that Python sent; it stays open, since reading its bytes costs. */
export function opened({ runs, data, text }) {
  if (!kept.has(data)) kept.set(data, new Map());
  const known = kept.get(data);
  if (!known.has(text)) {
    const run = runs.find(({ name }) => name === text);
    known.set(text, { ...run, ...unpacked(run.arrays, data, run.begin) });
  }
  return known.get(text);
}

/** Work out all that the picture shows. */
export function look(state) {
  const run = opened(state);
  const token = clamp(state.token, 0, run.tokens.length - 1);
  const place = clamp(state.place, 0, run.places - 1);
  const held = run.held.indexOf(token);
  const off = held < 0 ? [] : state.off.filter((i) => i < run.places);
  const rows = held < 0 ? storedRows(run, token) : countedRows(run, held, off);
  const asRun = !run.whole && !off.length; // then the run knows chances among all tokens
  if (asRun) rows.says = upTo(run.places).map((i) => storedSays(run, token, i));
  const among = run.whole || asRun ? 0 : run.said.length; // 0: all tokens
  return { ...state, run, tokens: run.tokens, token, place, held, off, among, ...rows };
}

const upTo = (count) => Array.from({ length: count }, (_, i) => i);

/** Of a token without stored vectors: sizes, directions and the likeliest tokens of the run. */
function storedRows(run, token) {
  const T = run.tokens.length;
  const at = (array, i) => array[i * T + token];
  const places = upTo(run.places);
  return {
    sums: places.map((i) => at(run.stream, i)),
    writes: places.map((i) => (i ? at(run.write, i - 1) : at(run.stream, 0))),
    cosines: places.map((i) => (i ? at(run.cosine, i - 1) : NaN)),
    says: places.map((i) => storedSays(run, token, i)),
    end: null,
  };
}

/** The likeliest next tokens of the whole vocabulary, as the run had them. */
export function storedSays(run, token, place) {
  const first = (place * run.tokens.length + token) * run.listed;
  return upTo(run.listed).map((k) => ({
    text: run.words[run.lens[first + k]],
    share: run.chance[first + k],
  }));
}

const sizeOf = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0) / row.length);
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** Of a token with vectors: the sum of what is counted, entry by entry, and all that follows. */
export function countedRows(run, held, off) {
  const { d, places } = run;
  const sum = new Float64Array(d);
  const rows = { sums: [], writes: [], cosines: [], says: [] };
  for (let i = 0; i < places; i += 1) {
    const part = run.parts.subarray((held * places + i) * d, (held * places + i + 1) * d);
    const [size, before] = [sizeOf(part), sizeOf(sum)];
    rows.writes.push(size);
    rows.cosines.push(i && size && before ? dot(part, sum) / (d * size * before) : NaN);
    if (!off.includes(i)) part.forEach((x, j) => (sum[j] += x));
    rows.sums.push(sizeOf(sum));
    rows.says.push(said(run, sum));
  }
  const stream = run.end.subarray(held * d, (held + 1) * d);
  const difference = stream.map((x, j) => x - sum[j]);
  return { ...rows, end: { sum, stream, difference, size: sizeOf(stream), off: sizeOf(difference) } };
}

/** The final norm and the logits of a sum; the softmax is over the tokens that are held. */
export function said({ head, said: texts, d, eps }, sum) {
  const scale = 1 / Math.sqrt(sum.reduce((total, x) => total + x * x, 0) / d + eps);
  const logits = texts.map((_, k) => {
    let score = 0;
    for (let j = 0; j < d; j += 1) score += head[k * d + j] * sum[j];
    return score * scale;
  });
  const most = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - most));
  const total = weights.reduce((all, w) => all + w, 0);
  return texts
    .map((text, k) => ({ text, share: weights[k] / total }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 5);
}

/**
 * What the map shows at a place of a token: `{ says, sum, write }`. Where the run holds the vectors
 * of every token and the whole vocabulary, it follows what is switched off.
 */
export function mapOf(run, off) {
  const follows = run.whole && run.held.length === run.tokens.length && off.length;
  const rows = run.tokens.map((_, t) => (follows ? countedRows(run, t, off) : storedRows(run, t)));
  return (place, token) => ({
    says: rows[token].says[place][0],
    sum: rows[token].sums[place],
    write: rows[token].writes[place],
    answer: rows[token].says[run.places - 1][0].text,
  });
}
