import assert from "node:assert/strict";
import { test } from "node:test";

import { measured } from "./measured.mjs";
import {
  digitsLeft,
  digitsOf,
  look,
  placeOf,
  powerAt,
  sayDigits,
  sayErrors,
} from "../../transformer_block/widgets/gradcheck_dial_numbers.js";

const seen = (changes) =>
  look({ step: 1e-5, case: "right", yours: {}, ...measured(3), ...changes });

test("a step is looked up at its place, and another at the nearest", () => {
  assert.deepEqual([1e-12, 1e-5, 0.1, 1.1e-5].map(placeOf), [0, 70, 110, 70]);
  assert.equal(powerAt(70), -5);
});

test("each case and dtype has its own numbers", () => {
  const { series } = seen({ case: "wrong", step: 1e-3 });
  assert.equal(series[0].error.toFixed(6), "0.100000");
  const right = seen({ step: 1e-3 }).series;
  assert.equal(right[0].error.toExponential(2), "1.00e-7");
  assert.deepEqual([right[0].above, right[0].below], [-2 + 0.003, -2 - 0.003]);
  assert.equal(right[1].above, Math.fround(-2 + 0.003));
});

test("a case that is not there is the right gradient", () => {
  assert.equal(seen({ case: "yours", yours: { message: "it stopped" } }).kind, "right");
  const four = seen({ case: "yours", ...measured(4), yours: { name: "mine", message: "" } });
  assert.deepEqual([four.kind, four.names.yours], ["yours", "mine"]);
});

test("the best step is where the error is smallest", () => {
  const [wide, narrow] = seen({}).series;
  assert.ok(Math.abs(powerAt(wide.best) + 5.4) < 0.2);
  assert.ok(powerAt(narrow.best) > -3);
});

test("two losses are cut where they begin to differ", () => {
  const digits = digitsOf({ dtype: "float32", above: -2.22914219, below: -2.2290647 });
  assert.deepEqual(digits, { same: "−2.229", above: "14219", below: "06470", all: 11 });
  assert.equal(digitsLeft(digits), 5);
  const equal = digitsOf({ dtype: "float64", above: 12.5, below: 12.5 });
  assert.deepEqual([equal.same, equal.above], ["12.500000000000000", ""]);
  assert.equal(digitsOf({ dtype: "float32", above: 0, below: 0 }).same, "0.00000000");
  assert.equal(digitsOf({ dtype: "float64", above: 1e-3, below: -1e-3 }).same, "");
});

test("the sentence says what rules", () => {
  assert.match(sayErrors(seen({ step: 1e-2 })), /^With a step of 0\.01 .* Truncation rules/);
  assert.match(sayErrors(seen({ step: 1e-9 })), /round-off rules/);
  assert.match(sayErrors(seen({ step: 4e-6 })), /about the best step/);
  assert.match(sayErrors(seen({ case: "wrong" })), /No step makes it small/);
  assert.match(sayErrors(seen({ case: "kink", step: 1e-2 })), /reaches over the kink/);
  assert.match(sayErrors(seen({ case: "kink", step: 1e-6 })), /one side of the kink/);
  assert.match(
    sayDigits(seen({})),
    /^Of the digits of the two losses \d+ differ in float64, and \d/,
  );
});
