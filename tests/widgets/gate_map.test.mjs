import assert from "node:assert/strict";
import { test } from "node:test";

import { gatesOf } from "./gates_of.mjs";
import { nextFrame, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/gate_map.js";
import { fullSize, look, sayAll, silu, sortedBy } from "../../transformer_block/widgets/gate_map_numbers.js";

const show = shower(picture, {});
const shown = (changes = {}) => show({ ...gatesOf(), ...changes });
const seen = (changes = {}) => look({ ...gatesOf(), ...changes });

test("a cell is found by block, token and unit", () => {
  assert.equal(seen().value("gate", 1, 2), 3);
  assert.equal(seen({ which: 1 }).value("gate", 0, 2), -3);
  assert.equal(seen().value("up", 1, 2), -2);
  assert.equal(seen().value("hidden", 1, 2), silu(3) * -2);
});

test("nearly closed are gates at zero and far below it", () => {
  const [a, b] = seen().closed;
  assert.equal(a, 2 / 3);
  assert.equal(b, 1 / 3);
  assert.match(sayAll(seen()), /“a” 67 % are nearly closed.*Of all tokens it is 50 %\./);
});

test("sorted, the widest open gate of the token comes first, and the unit stays the chosen one", () => {
  assert.deepEqual(sortedBy([0, 2, -8]), [1, 0, 2]);
  const now = seen({ sorted: true, unit: 2 });
  assert.deepEqual([now.unit, now.place], [2, 2]);
  const { el, model } = shown({ sorted: true, unit: 2 });
  slide(sliderOf(el, "Unit"), 0);
  assert.equal(model.state.unit, 1);
});

test("the size that fills a cell is one of the largest", () => {
  assert.equal(fullSize(seen(), "up"), 2); // of 10, 2, 2, 1, 1, 0.5 the last but the largest
});

test("it is drawn at once, with the four numbers of the chosen unit", () => {
  const { el } = shown();
  assert.deepEqual(tilesOf(el), ["2.00", "1.76", "−1.00", "−1.76"]);
  assert.equal(el.querySelectorAll(".tb-bar").length, 2);
});

test("the choices change what is shown and the order", () => {
  const { el, model } = shown();
  for (const value of ["hidden", "token"]) {
    const radio = el.querySelector(`input[value=${value}]`);
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
  }
  assert.deepEqual([model.state.shown, model.state.sorted], ["hidden", true]);
});

test("a pressed cell is chosen, a pointed one read", () => {
  const { el, model } = shown();
  const near = el.querySelectorAll("svg.tb-map")[1];
  near.setPointerCapture = () => {};
  near.hasPointerCapture = () => false;
  const at = (type, clientX, clientY) =>
    near.dispatchEvent(
      Object.assign(new Event(type), { button: 0, clientX, clientY, pointerId: 1, pointerType: "mouse" }),
    );
  at("pointermove", 630, 8);
  assert.match(texts(el, ".tb-readout")[0], /^a, unit 2: gate −8\.0/);
  assert.equal(model.saved, 0);
  at("pointerdown", 630, 40);
  nextFrame();
  assert.deepEqual([model.state.token, model.state.unit], [1, 2]);
});
