import assert from "node:assert/strict";
import { test } from "node:test";

import { stacked } from "./stacked.mjs";
import { nextFrame, press, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/wiring.js";

const STATE = { depth: 16, layer: 0, order: "pre", weights: "small", yours: {} };
const show = shower(picture, { ...STATE, ...stacked(3) });

test("it is drawn at once: three plans, three gradients, three streams", () => {
  const { el } = show();
  assert.equal(el.querySelectorAll(".tb-plan-name").length, 3);
  assert.equal(el.querySelectorAll(".tb-chart path.tb-line").length, 6);
  assert.deepEqual(tilesOf(el), ["4.00", "40.0", "400", "1.00", "2.00", "3.00"]);
});

test("the sliders set depth and layer, and a layer never stands above the stack", () => {
  const { el, model } = show();
  slide(sliderOf(el, "After block"), 12);
  slide(sliderOf(el, "Depth"), 7);
  assert.deepEqual([model.state.depth, model.state.layer], [7, 7]);
  slide(sliderOf(el, "After block"), 50);
  assert.equal(model.state.layer, 7);
});

test("the chosen wiring is drawn strong in all charts", () => {
  const { el } = show({ order: "post" });
  assert.equal(el.querySelectorAll(".tb-chart path.tb-line.tb-chosen.tb-post").length, 2);
  assert.ok(el.querySelectorAll(".tb-wire.tb-chosen.tb-post").length > 0);
  assert.match(texts(el, ".tb-spoken")[0], /Post-norm: on average each block/);
});

test("the weights can be larger", () => {
  const { el, model } = show();
  const large = el.querySelector("input[value=large]");
  large.checked = true;
  large.dispatchEvent(new Event("change", { bubbles: true }));
  assert.equal(model.state.weights, "large");
  nextFrame();
  assert.equal(tilesOf(el)[0], "16.0");
  press(el, "Reset");
  assert.equal(model.state.weights, "small");
});

test("a block of one's own is a fourth tile and a fourth line", () => {
  const { el } = show({ ...stacked(4), yours: { name: "mine", message: "" } });
  assert.equal(tilesOf(el).length, 8);
  assert.equal(el.querySelectorAll(".tb-chart path.tb-line.tb-yours").length, 2);
});

test("a block that stopped says why", () => {
  const { el } = show({ yours: { name: "mine", message: "mine stopped with KeyError: 0" } });
  assert.ok(texts(el, ".tb-spoken").includes("mine stopped with KeyError: 0"));
});

test("sizes of zero and sizes past all numbers are drawn without NaN", () => {
  const data = stacked(3);
  for (const [place, value] of [NaN, 0, Infinity].entries())
    data.gradients.setFloat32((135 + place) * 4, value, true);
  const { el } = show({ ...data, depth: 16 });
  for (const chart of el.querySelectorAll(".tb-chart"))
    assert.doesNotMatch(chart.innerHTML, /NaN|Infinity/);
});
