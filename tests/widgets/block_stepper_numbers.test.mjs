import assert from "node:assert/strict";
import { test } from "node:test";

import { walked } from "./walked.mjs";
import {
  arraysOf,
  axesOf,
  cellWords,
  look,
  say,
  termsOf,
  titleOf,
} from "../../transformer_block/widgets/block_stepper_numbers.js";
import { nodeAt, stepAt } from "../../transformer_block/widgets/block_stepper_plan.js";
import { LAST, STEPS, TURN } from "../../transformer_block/widgets/block_stepper_steps.js";
import { layout, tallest } from "../../transformer_block/widgets/block_stepper_values.js";

const state = walked();
const arrays = arraysOf(state.values, state.shapes);
const at = (id) => STEPS.findIndex((step) => step.id === id);

test("the bytes are cut into arrays of the shapes that go with them", () => {
  assert.deepEqual(Object.keys(arrays), state.shapes.map(([name]) => name));
  Object.values(arrays).forEach(({ shape, numbers }, n) => {
    assert.equal(numbers.length, shape.reduce((a, b) => a * b));
    assert.deepEqual([numbers[0], numbers[1]], [n, -n - 0.01].map(Math.fround));
  });
});

test("a step's line is read as arrays with operators, and the parts that they play", () => {
  const read = (id) =>
    termsOf(STEPS[at(id)], arrays).map(({ operator, name, role }) => [operator, name, role]);
  assert.deepEqual(read("join2"), [
    ["", "dout", "kept path"],
    ["+", "dbranch2", "through the net"],
    ["=", "dresidual", ""],
  ]);
  assert.deepEqual(read("turn").map(([operator]) => operator), ["", "→", "", "→"]);
});

test("both splits show the whole gradient on both ways, both joins its sum", () => {
  for (const id of ["split1", "split2"]) {
    const [arrives, ...ways] = termsOf(STEPS[at(id)], arrays);
    assert.equal(ways.length, 2);
    for (const way of ways) assert.equal(way.numbers, arrives.numbers);
  }
  assert.deepEqual(STEPS.filter(({ show }) => show.includes("=")).map(({ id }) => id), [
    "add1", "add2", "dopen", "join2", "dproject", "join1",
  ]);
});

test("every step has its line, and a step beyond the last is the last", () => {
  assert.equal(look({ ...state, step: 99 }, arrays).id, "join1");
  const { code, back } = look({ ...state, step: at("dscores") }, arrays);
  assert.deepEqual([code.way, code.text, back], ["backward", state.listings.backward, true]);
});

test("a step is named by its place in its pass", () => {
  assert.equal(titleOf(0), "Forward 1 of 14: the stream comes in");
  assert.equal(titleOf(TURN - 1), "Forward 14 of 14: second residual add");
  assert.equal(titleOf(TURN), "Back 1 of 15: the gradient splits");
  assert.equal(titleOf(LAST), "Back 15 of 15: the two ways join again");
});

test("the gradients of weights that fall out are named with their shapes", () => {
  const words = say(look({ ...state, step: at("dnorm1") }, arrays));
  assert.match(words, /Beside it falls out: dattn_norm \(4,\)\.$/);
  assert.doesNotMatch(say(look({ ...state, step: 0 }, arrays)), /falls out/);
});

test("numbers keep to their cells", () => {
  const words = [0, -0.001, 0.005, -2.345, 9.996, -45.67, 567.8, -123456, -Infinity, Infinity, NaN];
  assert.deepEqual(words.map(cellWords), [
    "0.00", "0.00", "0.01", "−2.35", "10.0", "−45.7", "568", "−1e5", "−∞", "∞", "NaN",
  ]);
});

test("axes are named by the letters of the page", () => {
  const letters = { x: "T, d", dk: "H_kv, T, K", dweights: "H, T, T", dW_down: "h, d", dgate: "T, h" };
  for (const [name, axes] of Object.entries(letters)) assert.equal(axesOf(name), axes);
});

test("arrays never run over the edge, and every step has room", () => {
  for (const width of [240, 311, 420, 640, 1200])
    for (const step of STEPS) {
      const { places, height } = layout(termsOf(step, arrays), width);
      assert.ok(height <= tallest(arrays, width));
      for (const { x, cell, matrix } of places) {
        const right = x + matrix.heads * matrix.columns * cell + 8 * (matrix.heads - 1);
        assert.ok(right <= width + 1, `${step.id} at ${width}: ${right}`);
      }
    }
});

test("a press on a part leads to the step that stands there, in the pass that is shown", () => {
  assert.equal(nodeAt(184, 14 + 0.8 * 40), "norm1");
  assert.equal(nodeAt(290, 400), undefined);
  const led = (node, back) => STEPS[stepAt(node, back, TURN)].id;
  assert.deepEqual([led("k", false), led("k", true)], ["project", "dproject"]);
  assert.deepEqual([led("add1", false), led("add1", true)], ["add1", "split1"]);
  assert.deepEqual([led("u", false), led("u", true)], ["add1", "join2"]);
  assert.deepEqual([led("out", false), led("x", true)], ["add2", "join1"]);
});
