// Reads models and contexts as JSON from stdin; writes what the counting ledger counts of each.

import { text } from "node:stream/consumers";

import {
  KEYS,
  balanceLength,
  countParameters,
  sum,
  tokenFlops,
} from "../../transformer_block/widgets/counting_ledger_numbers.js";

const asked = JSON.parse(await text(process.stdin));
const counted = asked.map(({ shape, T }) => ({
  parts: countParameters(shape),
  total: sum(countParameters(shape)),
  flops: tokenFlops(shape, T),
  exact: sum(tokenFlops(shape, T)),
  balance: balanceLength(shape),
}));

console.log(JSON.stringify({ keys: KEYS, counted }));
