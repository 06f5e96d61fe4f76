import assert from "node:assert/strict";
import { test } from "node:test";

import {
  centred,
  layernorm,
  look,
  mean,
  outputRms,
  rms,
  rmsnorm,
  sayEps,
  sayNorms,
  sayYours,
} from "../../transformer_block/widgets/rmsnorm_scope_numbers.js";

const ROW = [0.8, 1.4, -0.2, 0.6, 1.7, -0.9, 1.1];

function assertClose(actual, wanted, tolerance = 1e-12) {
  assert.equal(actual.length, wanted.length);
  actual.forEach((x, i) =>
    assert.ok(Math.abs(x - wanted[i]) <= tolerance, `${actual} ≠ ${wanted}`),
  );
}

const seen = (state) => look({ vector: ROW, scale: 1, eps: 1e-5, yours: {}, ...state });

test("at RMS 1e-3 and ε 1e-5 the factors are 0.30 and 0.99", () => {
  assert.equal(outputRms.inside(1e-3, 1e-5).toFixed(2), "0.30");
  assert.equal(outputRms.outside(1e-3, 1e-5).toFixed(2), "0.99");
  assert.equal(outputRms.absent(1e-3, 1e-5), 1);
});

test("without ε a row of zeros is 0/0, with ε it stays zeros", () => {
  assert.ok(Number.isNaN(outputRms.absent(0)));
  assert.deepEqual(rmsnorm([0, 0, 0], 1e-5), [0, 0, 0]);
});

test("the curve is the RMS of what RMSNorm gives", () => {
  for (const scale of [1e-8, 1e-3, 1, 1e3]) {
    const input = ROW.map((x) => scale * x);
    assertClose([rms(rmsnorm(input, 1e-5))], [outputRms.inside(rms(input), 1e-5)]);
  }
});

test("adding a constant leaves LayerNorm and moves RMSNorm", () => {
  const moved = ROW.map((x) => x + 1);
  assertClose(layernorm(moved, 1e-5), layernorm(ROW, 1e-5));
  assert.ok(Math.abs(rmsnorm(moved, 1e-5)[2] - rmsnorm(ROW, 1e-5)[2]) > 0.1);
});

test("with mean 0 both norms agree", () => {
  const row = centred(ROW);
  assert.ok(Math.abs(mean(row)) < 1e-12);
  assertClose(rmsnorm(row, 1e-5), layernorm(row, 1e-5));
});

test("scaling changes neither norm without ε", () => {
  const doubled = ROW.map((x) => 2 * x);
  assertClose(rmsnorm(doubled, 0), rmsnorm(ROW, 0));
  assertClose(layernorm(doubled, 0), layernorm(ROW, 0));
});

test("the norms are given scale times vector", () => {
  const now = seen({ scale: 1e-3 });
  assertClose(
    now.outputs.rmsnorm,
    rmsnorm(
      ROW.map((x) => x / 1000),
      1e-5,
    ),
  );
  assertClose([now.size], [rms(ROW) / 1000]);
});

test("the first sentence says which ε bites", () => {
  const say = (size, eps) => sayEps({ size, eps });
  assert.match(say(1e-3, 1e-5), /0\.302 with ε inside the root, 0\.99 outside it, and 1 without ε/);
  assert.match(say(1e-3, 1e-5), /Inside the root ε already holds the row down/);
  assert.match(say(20, 1), /Outside the root ε already holds the row down/);
  assert.match(say(1e-7, 1e-5), /Either way/);
  assert.match(say(1, 1e-5), /hardly matters/);
  assert.match(say(0, 1e-5), /0\/0/);
});

test("the second sentence compares the norms", () => {
  assert.match(sayNorms(seen({}), null), /mean is 0\.643: the two norms differ by up to/);
  assert.match(
    sayNorms(seen({ vector: centred(ROW) }), null),
    /mean is 0, so RMSNorm and LayerNorm agree/,
  );
});

test("after a button the second sentence says what moved", () => {
  const before = { done: "Added 1 to every feature", series: seen({}).outputs };
  assert.match(
    sayNorms(seen({ vector: ROW.map((x) => x + 1) }), before),
    /^Added 1 to every feature: RMSNorm moves by up to [\d.]+, LayerNorm stays where it was\.$/,
  );
});

test("a function of one's own is mentioned when it stopped or lags behind", () => {
  const yours = {
    name: "f",
    message: "",
    curve: [1, null],
    bars: [1, null],
    at: [1, 1e-5, ...ROW],
  };
  assert.equal(sayYours(seen({})), "");
  assert.equal(sayYours(seen({ yours })), "");
  assert.match(sayYours(seen({ yours, eps: 1e-3 })), /^f is drawn where it was last run/);
  assert.equal(sayYours(seen({ yours: { name: "f", message: "f stopped" } })), "f stopped");
});

test("null from Python, where JSON has no NaN, is NaN again", () => {
  const yours = { name: "f", message: "", curve: [1, null], bars: [null, 2], at: [] };
  assert.deepEqual(seen({ yours }).yours.curve, [1, NaN]);
  assert.deepEqual(seen({ yours }).yours.bars, [NaN, 2]);
});
