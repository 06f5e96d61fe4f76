// Reads what a RoPE dial holds as JSON from stdin, one for each line of a list; writes what it shows.

import { text } from "node:stream/consumers";

import { look } from "../../transformer_block/widgets/rope_dial_numbers.js";

const shown = JSON.parse(await text(process.stdin)).map((state) => {
  const { turned, score, byShift, byDistance, clocks } = look({ ...state, yours: {} });
  return { turned, score, byShift, byDistance, frequencies: clocks.map((c) => c.frequency) };
});
console.log(JSON.stringify(shown));
