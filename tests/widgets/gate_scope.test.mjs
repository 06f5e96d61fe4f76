import assert from "node:assert/strict";
import { test } from "node:test";

import { nextFrame, press, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/gate_scope.js";

const show = shower(picture, { gate: 1.5, up: 2, curve: "silu", yours: {} });
const YOURS = { name: "mine", message: "", values: [0, 1, null], slopes: [1, 1, 1] };

test("it is drawn at once: four curves and their slopes, an area, eight bars", () => {
  const { el } = show();
  assert.deepEqual(tilesOf(el), ["1.23", "1.04", "2.45"]);
  assert.equal(el.querySelectorAll(".tb-chart path.tb-line").length, 8);
  assert.equal(el.querySelectorAll(".tb-chart .tb-area").length, 1);
  assert.equal(el.querySelectorAll(".tb-chart .tb-bar").length, 8);
});

test("the sliders set gate and up", () => {
  const { el, model } = show();
  slide(sliderOf(el, "Gate"), -0.5);
  slide(sliderOf(el, "Up"), -3);
  assert.deepEqual([model.state.gate, model.state.up], [-0.5, -3]);
  nextFrame();
  assert.deepEqual(tilesOf(el), ["−0.189", "0.260", "0.566"]);
});

test("another curve takes the gate's place, and its own colour", () => {
  const { el, model } = show({ gate: -0.5 });
  const relu = el.querySelector("input[value=relu]");
  relu.checked = true;
  relu.dispatchEvent(new Event("change", { bubbles: true }));
  assert.equal(model.state.curve, "relu");
  nextFrame();
  assert.deepEqual(tilesOf(el), ["0", "0", "0"]);
  assert.equal(el.querySelectorAll(".tb-chart .tb-chosen.tb-relu").length, 2);
});

test("the buttons go to places worth seeing, and back", () => {
  const { el, model } = show({ gate: 0.25, up: 1 });
  press(el, "Nearly shut");
  assert.deepEqual([model.state.gate, model.state.up], [-0.5, 2]);
  press(el, "Nothing to let through");
  assert.equal(model.state.up, 0);
  press(el, "Reset");
  assert.deepEqual([model.state.gate, model.state.up], [0.25, 1]);
});

test("a negative product has another colour and a dashed edge", () => {
  const { el } = show({ up: -2 });
  assert.equal(el.querySelectorAll(".tb-chart .tb-area.tb-minus").length, 1);
});

test("a function of one's own is a fifth curve to choose, and can go again", () => {
  const { el, model } = show({ curve: "yours", yours: YOURS });
  assert.equal(el.querySelectorAll("input[type=radio]").length, 5);
  assert.equal(el.querySelectorAll(".tb-chart path.tb-yours").length, 2);
  assert.match(texts(el, ".tb-spoken")[0], /under yours/);
  model.set("yours", {});
  nextFrame();
  assert.equal(el.querySelectorAll("input[type=radio]").length, 4);
});

test("no number that is none reaches the charts", () => {
  const { el } = show({ gate: 4, curve: "yours", yours: YOURS });
  for (const chart of el.querySelectorAll(".tb-chart"))
    assert.doesNotMatch(chart.innerHTML.replaceAll(">NaN<", "><"), /NaN/);
});

test("the chosen curve and the sides of the area carry their numbers", () => {
  const { el, model } = show({ gate: -0.5 });
  const [curves, area] = el.querySelectorAll(".tb-chart");
  assert.deepEqual(texts(curves, ".tb-name"), ["opens to −0.189", "slope 0.260"]);
  assert.deepEqual(texts(area, ".tb-edge-name"), ["up 2", "opens to −0.189"]);
  assert.equal(texts(el, ".tb-title")[1], "The gate makes −0.378 of 2");
  model.set("up", 0);
  nextFrame();
  assert.deepEqual(texts(area, ".tb-edge-name"), ["opens to −0.189"]);
});

test("the height of the area's chart follows the gate, so that a small one is seen", () => {
  const scaleOf = (gate) => texts(show({ gate }).el.querySelectorAll(".tb-chart")[1], ".tb-tick")[2];
  assert.deepEqual([-0.5, 1.5, 3].map(scaleOf), ["1", "2", "4"]);
});

test("curves that are not chosen step back", () => {
  const { el } = show();
  assert.equal(el.querySelectorAll(".tb-bar.tb-beside").length, 6);
  assert.equal(el.querySelectorAll(".tb-bar.tb-silu.tb-beside").length, 0);
});
