import assert from "node:assert/strict";
import { test } from "node:test";

import { nextFrame, press, release, shower, slide, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/rmsnorm_scope.js";

const VECTOR = [0.8, 1.4, -0.2, 0.6, 1.7, -0.9, 1.1];
const YOURS = {
  name: "my_norm",
  message: "",
  powers: [-8, 3],
  curve: [0, 0.5, null, 1],
  bars: [1, 2, 3, null, 5, 6, 7],
  at: [1e-3, 1e-5, ...VECTOR],
};

const show = shower(picture, { vector: VECTOR, scale: 1e-3, eps: 1e-5, yours: {} });

const bars = (el) => [...el.querySelectorAll(".tb-bars input")];
const slider = (el, i) => el.querySelectorAll(".tb-slider input")[i];
test("it is drawn at once, with no frame and no kernel", () => {
  const { el } = show({ vector: [1, -1], scale: 1e-3 });
  assert.deepEqual(tilesOf(el), ["0.302", "0.990", "1.00"]);
  assert.equal(el.querySelectorAll("path.tb-line").length, 3);
  assert.equal(el.querySelectorAll(".tb-bar.tb-rmsnorm").length, 2 + 1); // and one in the key
  assert.match(texts(el, ".tb-spoken")[0], /input RMS of 0\.001/);
});

test("the sliders set scale and ε", () => {
  const { el, model } = show();
  slide(slider(el, 0), -1);
  slide(slider(el, 1), -3.3);
  assert.equal(model.state.scale, 0.1);
  assert.equal(model.state.eps, 5e-4);
  assert.equal(model.saved, 2);
});

test("dragging a bar changes that feature and no other", () => {
  const { el, model } = show({ vector: [0.123, 0.456, 0.789] });
  slide(bars(el)[1], -2);
  assert.deepEqual(model.state.vector, [0.123, -2, 0.789]);
});

test("a change is drawn in the next frame, once", () => {
  const { el, model } = show({ vector: [1, -1] });
  nextFrame(); // what waits from other tests
  model.set("scale", 1);
  model.set("eps", 0);
  assert.equal(tilesOf(el)[0], "0.302");
  assert.equal(nextFrame(), 1);
  assert.equal(tilesOf(el)[0], "1.00");
});

test("two views of one model stay in step", () => {
  const { places } = show({}, 2);
  slide(slider(places[0], 0), 2);
  slide(bars(places[1])[0], 3);
  nextFrame();
  assert.deepEqual(texts(places[0], "svg text"), texts(places[1], "svg text"));
  assert.equal(Number(slider(places[1], 0).value), 2);
  assert.equal(Number(bars(places[0])[0].value), 3);
});

test("the buttons add, centre, double, and go back", () => {
  const { el, model } = show({ vector: [1, 2, 6] });
  press(el, "Add 1 to all");
  assert.deepEqual(model.state.vector, [2, 3, 7]);
  nextFrame();
  press(el, "Subtract the mean");
  assert.deepEqual(model.state.vector, [-2, -1, 3]);
  nextFrame();
  press(el, "Double it");
  assert.deepEqual(model.state.vector, [-4, -2, 6]);
  slide(slider(el, 1), -1);
  press(el, "Reset");
  assert.deepEqual([model.state.vector, model.state.eps], [[1, 2, 6], 1e-5]);
});

test("after a button the outputs before it stay marked until something else changes", () => {
  const { el } = show();
  const marks = () => el.querySelectorAll(".tb-chart .tb-before").length;
  press(el, "Double it");
  nextFrame();
  assert.equal(marks(), 3 * VECTOR.length);
  slide(slider(el, 0), 0);
  nextFrame();
  assert.equal(marks(), 0);
});

test("hands that are faster than the frames lose nothing", () => {
  const { el, model } = show({ vector: [1, 2, 3] });
  slide(slider(el, 0), 0);
  slide(bars(el)[0], -1);
  slide(bars(el)[2], -3);
  press(el, "Add 1 to all");
  assert.deepEqual(model.state.vector, [0, 3, -2]);
  nextFrame();
  assert.equal(el.querySelectorAll(".tb-chart .tb-before").length, 3 * 3);
});

test("the axis of the bars stays while one is dragged and fits when it is let go", () => {
  const { el } = show({ vector: [9, 1] });
  const [bar] = bars(el);
  assert.equal(bar.max, "10");
  slide(bar, 2);
  nextFrame();
  assert.equal(bar.max, "10");
  release(bar);
  nextFrame();
  assert.equal(bar.max, "4");
});

test("Python may change the number of features", () => {
  const { el, model } = show();
  model.set("vector", [1, 2, 3]);
  nextFrame();
  assert.deepEqual(
    bars(el).map((bar) => bar.getAttribute("aria-label")),
    ["Feature 1", "Feature 2", "Feature 3"],
  );
});

test("a function of one's own is a fourth curve, a third bar and a column", () => {
  const { el } = show({ yours: YOURS });
  assert.equal(el.querySelectorAll("path.tb-line.tb-yours").length, 1);
  assert.equal(el.querySelectorAll(".tb-chart .tb-bar.tb-yours").length, VECTOR.length);
  assert.equal(tilesOf(el)[3], "NaN");
  const details = el.querySelector("details");
  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  assert.ok(texts(details, "th").includes("yours"));
});

test("no number that is none reaches the charts, from a function or from before", () => {
  const { el } = show({ yours: YOURS });
  press(el, "Double it");
  nextFrame();
  assert.equal(el.querySelectorAll(".tb-chart .tb-before").length, 4 * VECTOR.length);
  for (const chart of el.querySelectorAll(".tb-chart")) assert.doesNotMatch(chart.outerHTML, /NaN/);
});

test("a function that stopped leaves the picture and says why", () => {
  const { el } = show({ yours: { name: "my_norm", message: "my_norm stopped with KeyError: 0" } });
  assert.ok(texts(el, ".tb-spoken").includes("my_norm stopped with KeyError: 0"));
  assert.equal(el.querySelectorAll("path.tb-line").length, 3);
});

test("a row of zeros and ε = 0 are drawn without a marker, not with NaN", () => {
  const { el } = show({ vector: [0, 0], eps: 0 });
  assert.equal(el.querySelectorAll(".tb-marker").length, 0);
  assert.doesNotMatch(el.querySelector(".tb-draggable").outerHTML, /NaN/);
});
