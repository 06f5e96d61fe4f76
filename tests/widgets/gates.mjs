// Reads gates, ups and curves as JSON from stdin; writes what the gate scope makes of each.

import { text } from "node:stream/consumers";

import { look } from "../../transformer_block/widgets/gate_scope_numbers.js";

const { gates, ups } = JSON.parse(await text(process.stdin));
const seen = gates.map((gate, i) => look({ gate, up: ups[i], curve: "silu", yours: {} }).all);

console.log(JSON.stringify(seen));
