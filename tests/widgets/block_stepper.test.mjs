import assert from "node:assert/strict";
import { test } from "node:test";

import { walked } from "./walked.mjs";
import { nextFrame, press, shower, slide, sliderOf, texts } from "./stage.mjs";
import { LAST, STEPS, TURN } from "../../transformer_block/widgets/block_stepper_steps.js";
import picture from "../../transformer_block/widgets/block_stepper.js";

const show = shower(picture, { step: 0, ...walked() });
const at = (id) => STEPS.findIndex((step) => step.id === id);

function key(el, name) {
  const event = new Event("keydown", { bubbles: true, cancelable: true });
  event.key = name;
  el.querySelector(".tb-buttons button").dispatchEvent(event);
}

test("it is drawn at once: plan, cells, sentence and the line", () => {
  const { el } = show();
  assert.equal(el.querySelectorAll(".tb-plan .tb-node-name").length, 17);
  assert.equal(el.querySelectorAll(".tb-cell").length, 12);
  assert.match(texts(el, ".tb-spoken")[0], /^The stream comes in/);
  assert.deepEqual(texts(el, ".tb-on"), ["up 0", "up 1"]);
});

test("every step lights its wires, shows its arrays and marks its line", () => {
  for (const [i, step] of STEPS.entries()) {
    const { el } = show({ step: i });
    assert.equal(el.querySelectorAll(".tb-wire.tb-lit").length, step.wires.length, step.id);
    assert.ok(el.querySelectorAll(".tb-node.tb-lit").length > 0);
    assert.equal(el.querySelectorAll(".tb-wire.tb-lit.tb-down").length > 0, i >= TURN);
    assert.equal(texts(el, ".tb-on").length, 2);
    assert.doesNotMatch(el.innerHTML, /NaN|undefined|Infinity/);
  }
});

test("buttons and arrow keys step, and stop at both ends", () => {
  const { el, model } = show();
  press(el, "Next");
  key(el, "ArrowRight");
  assert.equal(model.state.step, 2);
  key(el, "ArrowLeft");
  press(el, "Back");
  press(el, "Back");
  assert.equal(model.state.step, 0);
  press(el, "Last");
  key(el, "ArrowDown");
  assert.equal(model.state.step, LAST);
  key(el, "Home");
  assert.equal(model.state.step, 0);
  nextFrame();
  const ends = [...el.querySelectorAll("[aria-disabled=true]")].map((node) => node.textContent);
  assert.deepEqual(ends, ["First", "Back"]);
});

test("it plays until the last step, then begins anew, and pauses when a hand comes", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { el, model } = show({ step: LAST - 2 });
  press(el, "Play");
  t.mock.timers.tick(2200);
  assert.equal(model.state.step, LAST - 1);
  t.mock.timers.tick(2200);
  assert.ok(texts(el, "button").includes("Play"));
  press(el, "Play");
  assert.equal(model.state.step, 0);
  assert.ok(texts(el, "button").includes("Pause"));
  slide(sliderOf(el, "Step"), 7);
  t.mock.timers.tick(9000);
  assert.equal(model.state.step, 7);
});

test("nothing plays on after the end", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { el, model, ends } = show();
  press(el, "Play");
  ends[0]();
  t.mock.timers.tick(9000);
  assert.equal(model.state.step, 0);
});

test("a mask is a dashed cell that says −∞", () => {
  const { el } = show({ step: at("scores"), ...walked((all) => all.map(() => -Infinity)) });
  assert.ok(texts(el, ".tb-cell-words").every((words) => words === "−∞"));
  assert.ok(el.querySelectorAll(".tb-cell.tb-hidden").length > 18);
});

test("an array of zeros is drawn", () => {
  const { el } = show(walked((all) => all.map(() => 0)));
  assert.equal(el.querySelector(".tb-cell").getAttribute("fill-opacity"), "0");
});

test("what lies within a line of the block is shown below it", () => {
  const { el } = show({ step: 1 });
  assert.equal(texts(el, ".tb-within")[0], "made = norm1");
});
