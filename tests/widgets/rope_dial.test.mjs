import assert from "node:assert/strict";
import { test } from "node:test";

import { nextFrame, press, shower, slide, sliderOf, texts } from "./stage.mjs";
import picture from "../../transformer_block/widgets/rope_dial.js";
import { apart } from "../../transformer_block/widgets/rope_dial_score.js";

const STATE = {
  query: [1.2, 0.4, -0.6, 0.9],
  key: [0.9, 0.7, 0.2, 1.1],
  query_at: 5,
  key_at: 2,
  shift: 0,
  pairing: "interleaved",
  rope_base: 1e4,
  yours: {},
};
const show = shower(picture, STATE);
const YOURS = {
  name: "mine",
  message: "",
  shifts: Array(101).fill(2),
  distances: [null, ...Array(64).fill(1)],
  at: [5, 2, 0, 1e4, ...STATE.query, ...STATE.key],
  pairing: "interleaved",
};

test("it is drawn at once: a clock for each pair, four hands on each, two curves", () => {
  const { el } = show();
  assert.equal(el.querySelectorAll(".tb-chart .tb-face").length, 2);
  assert.equal(el.querySelectorAll(".tb-chart .tb-hand").length, 8);
  assert.equal(el.querySelectorAll(".tb-chart path.tb-score").length, 2);
  assert.equal(el.querySelectorAll(".tb-chart .tb-arc").length, 2);
});

test("sliders set both positions, the common move and the base", () => {
  const { el, model } = show();
  slide(sliderOf(el, "Query at m"), 9);
  slide(sliderOf(el, "Key at n"), 4);
  slide(sliderOf(el, "Move both on by"), 40);
  slide(sliderOf(el, "Base"), 2);
  const { query_at, key_at, shift, rope_base } = model.state;
  assert.deepEqual([query_at, key_at, shift, rope_base], [9, 4, 40, 100]);
});

test("moving both turns the hands and leaves the curve by shift where it is", () => {
  const { el } = show();
  const flat = () => el.querySelectorAll(".tb-chart path.tb-score")[1].getAttribute("d");
  const hands = () => [...el.querySelectorAll(".tb-chart .tb-hand")].map((h) => h.outerHTML).join();
  const before = [flat(), hands()];
  press(el, "Both one step on");
  nextFrame();
  assert.equal(flat(), before[0]);
  assert.notEqual(hands(), before[1]);
});

test("mixed up, both ways of pairing are shown", () => {
  const { el } = show({ pairing: "mixed" });
  assert.equal(el.querySelectorAll(".tb-chart .tb-arc").length, 4);
  assert.ok(texts(el, "svg text").includes("features 0, 1 | 0, 2"));
});

test("a dragged distance moves the query, and the key where there is no room", () => {
  assert.deepEqual(apart({ key_at: 2 }, 7), { query_at: 9, key_at: 2 });
  assert.deepEqual(apart({ key_at: 2 }, -7), { query_at: 0, key_at: 7 });
  assert.deepEqual(apart({ key_at: 20 }, 31), { query_at: 32, key_at: 1 });
  assert.deepEqual(apart({ key_at: 5 }, -99), { query_at: 0, key_at: 32 });
});

test("a clock that is turned by hand moves both, over full rounds too", () => {
  const { el, model } = show();
  const dials = el.querySelector(".tb-turnable");
  Object.assign(dials, { setPointerCapture() {}, hasPointerCapture: () => true });
  const face = el.querySelector(".tb-face");
  const [x, y] = ["cx", "cy"].map((name) => Number(face.getAttribute(name)));
  const point = (type, angle) =>
    dials.dispatchEvent(
      Object.assign(new Event(type), {
        clientX: x + 30 * Math.cos(angle),
        clientY: y - 30 * Math.sin(angle),
        button: 0,
        pointerId: 1,
      }),
    );
  point("pointerdown", 0.2);
  for (let angle = 1; angle <= 9; angle += 1) point("pointermove", 0.2 + angle);
  assert.equal(model.state.shift, 9); // the first pair turns by one radian a step
  for (let angle = 8; angle >= -4; angle -= 1) point("pointermove", 0.2 + angle);
  assert.equal(model.state.shift, 0);
});

test("the key can be made equal to the query, and everything can go back", () => {
  const { el, model } = show({ key_at: 3 });
  press(el, "Make the key equal the query");
  assert.deepEqual(model.state.key, STATE.query);
  slide(sliderOf(el, "Key at n"), 9);
  press(el, "Reset");
  assert.deepEqual([model.state.key, model.state.key_at], [STATE.key, 3]);
});

test("a function of one's own is a second line in both charts, and says when it lags", () => {
  const { el } = show({ yours: YOURS });
  assert.equal(el.querySelectorAll(".tb-chart path.tb-yours").length, 2);
  assert.ok(texts(el, ".tb-spoken").includes(""));
  const behind = show({ yours: YOURS, key_at: 3 });
  assert.ok(texts(behind.el, ".tb-spoken").some((words) => /mine is drawn where/.test(words)));
  const stopped = show({ yours: { name: "mine", message: "mine stopped with KeyError: 0" } });
  assert.ok(texts(stopped.el, ".tb-spoken").includes("mine stopped with KeyError: 0"));
});

test("vectors of zeros and a single pair are drawn without NaN", () => {
  const { el } = show({ query: [0, 0], key: [0, 0] });
  assert.doesNotMatch(el.innerHTML, /NaN/);
});
