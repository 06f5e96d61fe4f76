import assert from "node:assert/strict";
import { test } from "node:test";

import { ledgers } from "./ledgers.mjs";
import { nextFrame, press, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/stream_ledger.js";
import { look, mapOf } from "../../transformer_block/widgets/stream_ledger_numbers.js";
import { direction, sayBalance, sayPlace } from "../../transformer_block/widgets/stream_ledger_words.js";
import { halfToNumber } from "../../transformer_block/widgets/packed.js";

const show = shower(picture, {});
const shown = (changes = {}, whole = true) => show({ ...ledgers(whole), ...changes });
const seen = (changes = {}, whole = true) => look({ ...ledgers(whole), ...changes });
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("with everything counted the sum is the stream", () => {
  for (const token of [0, 1]) near(seen({ token }).end.off, 0);
  assert.deepEqual(Array.from(seen().end.sum), [5, 2]);
});

test("what is left out is missing from every sum after it, and is the difference", () => {
  const { sums, end, writes } = seen({ off: [3] });
  near(end.off, Math.sqrt(8)); // 4 and 0
  near(sums[2], seen().sums[2]);
  near(sums[3], sums[2]);
  near(writes[3], Math.sqrt(8)); // an entry keeps its size
});

test("a cosine is that to the sum of what is counted before it", () => {
  near(seen().cosines[2], (-2 * 1) / (2 * Math.sqrt(2)));
  near(seen({ off: [1] }).cosines[2], -1);
  assert.ok(Number.isNaN(seen().cosines[0]));
});

test("the sum goes through its own norm and the rows to chances", () => {
  const r = 1 / Math.sqrt((25 + 4) / 2);
  const weights = [5 * r, 2 * r, -7 * r].map(Math.exp);
  const [first] = seen().says[4];
  assert.equal(first.text, "x");
  near(first.share, weights[0] / weights.reduce((a, b) => a + b));
});

test("a token without vectors shows what the trace holds, and nothing can be left out", () => {
  const now = seen({ token: 0, off: [1] }, false);
  assert.deepEqual([now.off, now.end], [[], null]);
  near(now.cosines[2], 0.5);
  assert.equal(now.says[1][0].text, "y");
  assert.match(sayBalance(now), /nothing can be switched off/);
});

test("a trace with few rows has the chances of the run, and shares once something is left out", () => {
  assert.equal(seen({}, false).among, 0);
  assert.equal(seen({}, false).says[4][0].share, 0.75);
  assert.equal(seen({ off: [1] }, false).among, 3);
});

test("the map follows what is left out where it can", () => {
  const { run } = seen();
  near(mapOf(run, [3])(4, 1).sum, seen({ off: [3] }).sums[4]);
  near(mapOf(seen({}, false).run, [3])(4, 1).sum, seen().sums[4]);
});

test("the switch, the boxes and the buttons leave entries out", () => {
  const { el, model } = shown();
  const tick = el.querySelector("input[type=checkbox]");
  tick.dispatchEvent(new Event("change", { bubbles: true }));
  assert.deepEqual(model.state.off, [3]);
  nextFrame();
  assert.equal(tick.checked, false);
  assert.deepEqual(tilesOf(el), ["1.58", "3.81", "2.83"]);
  press(el, "Without attention");
  assert.deepEqual(model.state.off, [1, 3]);
  press(el, "Without the nets");
  assert.deepEqual(model.state.off, [2, 4]);
  press(el, "Count all");
  assert.deepEqual(model.state.off, []);
});

test("a press on a box counts or leaves out, and beside it chooses the row", () => {
  const { el, model } = shown();
  const rows = el.querySelectorAll("svg.tb-map")[1];
  rows.setPointerCapture = () => {};
  const down = (clientX) =>
    rows.dispatchEvent(
      Object.assign(new Event("pointerdown"), { button: 0, clientX, clientY: 34 + 34 + 5, pointerId: 1 }),
    );
  down(8);
  assert.deepEqual([model.state.off, model.state.place], [[1], 3]);
  down(200);
  assert.deepEqual([model.state.off, model.state.place], [[1], 1]);
});

test("sliders choose the token and the entry, and the sentence follows", () => {
  const { el, model } = shown();
  slide(sliderOf(el, "Token"), 0);
  slide(sliderOf(el, "Entry"), 2);
  assert.deepEqual([model.state.token, model.state.place], [0, 2]);
  nextFrame();
  assert.match(texts(el, ".tb-subtitle").join(), /After the net of block 0/);
});

test("the sentences say size, direction and what would be said", () => {
  assert.match(sayPlace(seen()), /^Token 1, “b”: the attention of block 1 writes a row of size 2\.83, along/);
  assert.match(sayPlace(seen({ off: [3] })), /It is not counted/);
  assert.equal(direction(-0.44), "against the stream, cosine −0.44");
  assert.equal(direction(0.04), "across the stream, cosine 0.040");
  assert.match(sayBalance(seen()), /^All 5 entries together are the stream: they differ by 0/);
  assert.match(sayBalance(seen({ off: [1, 4] })), /^The attention of block 0 and the net of block 1 are left out/);
});

test("sixteen bits are the number that they stand for", () => {
  const known = { 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 2 ** -24, 0x3555: 0.333251953125 };
  for (const [bits, number] of Object.entries(known)) assert.equal(halfToNumber(Number(bits)), number);
  assert.equal(halfToNumber(0x7c00), Infinity);
  assert.ok(Number.isNaN(halfToNumber(0x7e00)));
});

test("letters under the map are put together to words", () => {
  const state = ledgers();
  Object.assign(state.runs[0], { tokens: ["a", "b"], letters: true });
  const { el } = shown(state);
  const [map] = el.querySelectorAll(".tb-chart.tb-map");
  const names = [...map.querySelectorAll("text")].filter((t) => t.getAttribute("text-anchor") === "start");
  assert.deepEqual(names.map((t) => t.textContent), ["ab"]);
});
