import assert from "node:assert/strict";
import { test } from "node:test";

import { measured } from "./measured.mjs";
import { nextFrame, press, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/gradcheck_dial.js";

const show = shower(picture, { step: 1e-5, case: "right", yours: {}, ...measured(3) });

test("it is drawn at once: two errors, three straight lines, two pairs of losses", () => {
  const { el } = show();
  assert.equal(el.querySelectorAll(".tb-chart path.tb-line").length, 5);
  assert.deepEqual(tilesOf(el), ["1.10e-11", "0.00100"]);
  assert.equal(el.querySelectorAll(".tb-digit-block").length, 2);
});

test("the slider sets a step that Python has measured", () => {
  const { el, model } = show();
  slide(sliderOf(el, "Step"), -7.7);
  assert.equal(model.state.step, 1.99526231497e-8);
  nextFrame();
  assert.equal(sliderOf(el, "Step").getAttribute("aria-valuetext"), "2e-8");
});

test("the buttons go to the best step of each dtype, and back", () => {
  const { el, model } = show();
  press(el, "Best for float32");
  assert.ok(model.state.step > 1e-3);
  press(el, "Best for float64");
  assert.ok(Math.abs(Math.log10(model.state.step) + 5.4) < 0.2);
  press(el, "Reset");
  assert.equal(model.state.step, 1e-5);
});

test("a kink has no line of truncation", () => {
  const { el } = show({ case: "kink" });
  assert.equal(el.querySelectorAll(".tb-chart path.tb-truncation").length, 0);
});

test("a loss of one's own is a fourth case, when it arrives", () => {
  const { el, model } = show();
  for (const [name, value] of Object.entries({ ...measured(4), yours: { name: "mine" } }))
    model.set(name, value);
  model.set("case", "yours");
  nextFrame();
  assert.deepEqual(texts(el, ".tb-option").at(-1), "mine");
  assert.ok(el.querySelector("input[value=yours]").checked);
});

test("a loss that stopped says why", () => {
  const { el } = show({ yours: { name: "mine", message: "mine stopped with KeyError: 0" } });
  assert.ok(texts(el, ".tb-spoken").includes("mine stopped with KeyError: 0"));
});

test("errors of zero and errors that are none are drawn without NaN", () => {
  const data = measured(3);
  data.errors.setFloat32(70 * 4, NaN, true);
  data.errors.setFloat32(71 * 4, 0, true);
  const { el } = show(data);
  assert.doesNotMatch(el.querySelector(".tb-chart").innerHTML, /NaN|Infinity/);
});
