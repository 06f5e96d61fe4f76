import assert from "node:assert/strict";
import { test } from "node:test";

import { gradientAt, stacked, streamAt } from "./stacked.mjs";
import { look, sayGradient, sayStream } from "../../transformer_block/widgets/wiring_numbers.js";
import { decades } from "../../transformer_block/widgets/wiring_sizes.js";

const STATE = { depth: 13, layer: 5, order: "pre", weights: "middle", yours: {} };
const seen = (changes, kinds = 3) => look({ ...STATE, ...stacked(kinds), ...changes });

test("each wiring, size and depth has its own numbers", () => {
  const state = [
    ["small", 0],
    ["middle", 1],
    ["large", 2],
  ];
  for (const [weights, size] of state)
    for (const depth of [1, 2, 13, 64]) {
      const { series } = seen({ weights, depth, layer: 1 });
      series.forEach(({ streamHere, gradientHere, stream, gradient }, kind) => {
        assert.equal(streamHere, Math.fround(streamAt(kind, size, 1)));
        assert.equal(gradientHere, Math.fround(gradientAt(kind, size, depth, 1)));
        assert.deepEqual([stream.length, gradient.length], [depth + 1, depth + 1]);
      });
    }
});

test("a layer above the stack is the top of it", () => {
  assert.equal(seen({ depth: 3, layer: 9 }).layer, 3);
});

test("a block of one's own is a fourth wiring, and without one pre-norm is chosen", () => {
  const yours = { name: "mine", message: "" };
  const four = seen({ order: "yours", yours }, 4);
  assert.deepEqual([four.chosen, four.series[3].name], ["yours", "mine"]);
  assert.equal(seen({ order: "yours" }).chosen, "pre");
});

test("an axis has room for all sizes, and for 1", () => {
  const of = (...stream) => decades([{ stream }], "stream").map((power) => power + 0); // not −0
  assert.deepEqual(of(1, 0.99999, 1), [0, 1]);
  assert.deepEqual(of(3, 250), [0, 3]);
  assert.deepEqual(of(0.004, 1), [-3, 0]);
  assert.deepEqual(of(0, NaN, Infinity), [0, 1]);
  assert.deepEqual(of(1e-38, 1e38), [-14, 14]);
});

test("the sentences give the size of each wiring, and what a block does on average", () => {
  assert.equal(
    sayGradient(seen({ depth: 8, layer: 0, weights: "small" })),
    "A gradient of RMS 1 enters above block 8. Below the first block it is 2 with pre-norm, " +
      "20 with post-norm, 200 without residuals. Pre-norm: on average each block multiplies it " +
      "by 1.09, 2 in all.",
  );
  assert.match(sayGradient(seen({})), /After block 5 it is/);
  assert.match(sayStream(seen({})), /After block 5 it is 1\.3 with pre-norm/);
  assert.match(sayStream(seen({ layer: 0 })), /After block 13 it is 1\.4 with pre-norm/);
});

test("a gradient that is gone, or past all numbers, is said to be", () => {
  const says = (value) => {
    const now = seen({});
    now.series[0].gradient[0] = value;
    return sayGradient(now);
  };
  assert.match(says(0), /nothing of the gradient arrives\.$/);
  assert.match(says(NaN), /does not survive\.$/);
});
