// The words of the stream ledger.

import { fixed } from "./common.js";
import { tokenText } from "./maps.js";

/** What an entry is called: the embedding first, then attention and net of each block in turn. */
export const partName = (i) => (i ? `${i % 2 ? "attention" : "net"} ${(i - 1) >> 1}` : "embedding");

/** The same in a sentence. */
export const partWords = (i) =>
  i ? `the ${i % 2 ? "attention" : "net"} of block ${(i - 1) >> 1}` : "the embedding";

/** A share from 0 to 1. */
export const percent = (share) => {
  const hundredth = 100 * share;
  return `${hundredth >= 99.95 || hundredth < 0.05 ? Math.round(hundredth) : hundredth.toFixed(1)} %`;
};

const quoted = ({ text, share }) => `“${tokenText(text)}” (${percent(share)})`;

/** Say what one entry is, and what the stream would say after it. */
export function sayPlace({ tokens, token, place, sums, writes, cosines, says, off, among }) {
  const who = place ? `${partWords(place)} writes` : "the embedding is";
  const way = place ? `, ${direction(cosines[place])}` : "";
  const left = off.includes(place) ? " It is not counted." : "";
  const of = among ? `, of ${among} tokens,` : "";
  return (
    `Token ${token}, “${tokenText(tokens[token])}”: ${who} a row of size ${fixed(writes[place])}${way}.${left} ` +
    `The stream then has size ${fixed(sums[place])} and would say${of} ${quoted(says[place][0])}, ` +
    `then ${quoted(says[place][1])}.`
  );
}

/** Say how a write lies to the stream before it. */
export function direction(cosine) {
  if (Number.isNaN(cosine)) return "into nothing";
  const words = `cosine ${fixed(cosine, 2)}`;
  if (Math.abs(cosine) < 0.1) return `across the stream, ${words}`;
  return cosine > 0 ? `along the stream, ${words}` : `against the stream, ${words}`;
}

/** Say whether the books balance. */
export function sayBalance({ run, held, off, end }) {
  if (held < 0)
    return "The trace has no vectors of this token, only sizes, directions and the likeliest tokens: nothing can be switched off.";
  const all = run.places;
  const share = end.off / end.size;
  const rounding = share < 1e-6 ? "rounding" : "rounding of half precision";
  if (!off.length)
    return `All ${all} entries together are the stream: they differ by ${fixed(share, 1)} of its size, ${rounding}.`;
  const names = off.length > 3 ? `${off.length} entries are` : `${listed(off)} ${off.length > 1 ? "are" : "is"}`;
  return `${capital(names)} left out. The sum of the other ${all - off.length} misses the stream by ${percent(share)} of its size.`;
}

const capital = (words) => words[0].toUpperCase() + words.slice(1);
const listed = (off) =>
  off
    .map(partWords)
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
