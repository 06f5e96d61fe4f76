// Reads rows, sizes and ε as JSON from stdin; writes what the RMSNorm scope makes of each.

import { text } from "node:stream/consumers";

import {
  layernorm,
  outputRms,
  rmsnorm,
} from "../../transformer_block/widgets/rmsnorm_scope_numbers.js";

const { rows, sizes, epsilons } = JSON.parse(await text(process.stdin));
const overAll = (f, inputs) => epsilons.map((eps) => inputs.map((input) => f(input, eps)));

console.log(
  JSON.stringify({
    rmsnorm: overAll(rmsnorm, rows),
    layernorm: overAll(layernorm, rows),
    inside: overAll(outputRms.inside, sizes),
    outside: overAll(outputRms.outside, sizes),
  }),
);
