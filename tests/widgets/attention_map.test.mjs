import assert from "node:assert/strict";
import { test } from "node:test";

import { attended } from "./attended.mjs";
import { nextFrame, press, shower, slide, sliderOf, texts, tilesOf } from "./stage.mjs";
import picture from "../../transformer_block/widgets/attention_map.js";
import {
  habitsOf,
  look,
  meanOver,
  sayPair,
  spread,
  strongest,
} from "../../transformer_block/widgets/attention_map_numbers.js";

const show = shower(picture, {});
const shown = (changes = {}, views = 1) => show({ ...attended(), ...changes }, views);
const seen = (changes = {}) => look({ ...attended(), ...changes });
const filled = (el, map) =>
  [...el.querySelectorAll("svg.tb-map")[map].querySelectorAll(".tb-cell")]
    .map((cells) => cells.getAttribute("points").split(" 0 0").length - 1)
    .reduce((sum, count) => sum + count, 0);

test("it is drawn at once: a triangle, a row of bars, a cell for every head", () => {
  const { el } = shown();
  assert.equal(filled(el, 0), 15);
  assert.equal(filled(el, 1), 6);
  assert.equal(el.querySelectorAll(".tb-bar").length, 5);
  assert.deepEqual(tilesOf(el), ["0.80", "0.00", "1.6"]);
});

test("the sliders choose block, head, query and key, and no key lies after its query", () => {
  const { el, model } = shown();
  slide(sliderOf(el, "Query"), 2);
  nextFrame();
  assert.equal(sliderOf(el, "Key").max, "2");
  slide(sliderOf(el, "Query"), 1);
  nextFrame();
  assert.equal(sliderOf(el, "Key").getAttribute("aria-valuetext"), "1: b");
  slide(sliderOf(el, "Block"), 1);
  slide(sliderOf(el, "Head"), 2);
  assert.deepEqual([model.state.layer, model.state.head], [1, 2]);
});

test("a pressed cell of the map is the pair, one of the atlas the head", () => {
  const { el, model } = shown();
  const press = (map, clientX, clientY) => {
    const node = el.querySelectorAll("svg.tb-map")[map];
    node.setPointerCapture = () => {};
    node.hasPointerCapture = () => true;
    const event = new Event("pointerdown");
    node.dispatchEvent(Object.assign(event, { button: 0, clientX, clientY, pointerId: 1 }));
  };
  press(0, 40, 134 + 26 * 3 + 5);
  assert.deepEqual([model.state.query, model.state.key], [3, 0]);
  press(0, 600, 40); // above the map, in the bars: the query stays
  assert.deepEqual([model.state.query, model.state.key], [3, 4]);
  press(1, 630, 22);
  assert.deepEqual([model.state.layer, model.state.head], [1, 0]);
});

test("the buttons find heads by what they do", () => {
  const { el, model } = shown();
  press(el, "A head that looks one back");
  assert.deepEqual([model.state.layer, model.state.head], [0, 0]);
  press(el, "One that rests on the first");
  assert.deepEqual([model.state.layer, model.state.head], [1, 0]);
  press(el, "One that finds what came next");
  assert.deepEqual([model.state.layer, model.state.head], [0, 1]);
  press(el, "Reset");
  nextFrame();
  press(el, "Strongest head for this pair");
  assert.deepEqual([model.state.layer, model.state.head], [0, 1]);
});

test("another text is entered at its last token, and has no button for what it does not hold", () => {
  const { el, model } = shown();
  const radio = el.querySelector("input[value=short]");
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  assert.deepEqual([model.state.text, model.state.query, model.state.key], ["short", 1, 0]);
  nextFrame();
  const names = [...el.querySelectorAll("button")].filter((b) => !b.hidden).map((b) => b.textContent);
  assert.deepEqual(names, ["Strongest head for this pair", "Reset"]);
  assert.deepEqual(texts(el, ".tb-sentence"), ["a b"]);
});

test("a single text has no choice, and stays on its tokens", () => {
  const state = attended();
  const only = { ...state, texts: [state.texts[0]], text: "short" };
  assert.equal(shown(only).el.querySelectorAll("input[type=radio]").length, 0);
  assert.deepEqual([look(only).query, look(only).key], [1, 1]);
});

test("a weight is found in its text, block, head, row and place", () => {
  for (const text of ["short", "long"]) {
    const { weight, tokens } = seen({ text });
    const T = tokens.length;
    for (const [layer, head] of [[0, 0], [0, 2], [1, 1]])
      for (let query = 0; query < T; query += 1) {
        const row = Array.from({ length: query + 1 }, (_, key) => weight(layer, head, query, key));
        const at = Math.max(0, query - layer * 3 - head - 1);
        assert.equal(row.indexOf(Math.max(...row)), at, `${text} ${layer} ${head} ${query}`);
      }
  }
});

test("a row on one token is spread over one, an even row over all", () => {
  assert.equal(spread([0, 1, 0]), 1);
  assert.ok(Math.abs(spread([0.25, 0.25, 0.25, 0.25]) - 4) < 1e-12);
});

test("heads are sought over the right pairs", () => {
  const { before, first, followers } = habitsOf(["a", "b", "c", "b", "a"]);
  assert.deepEqual(before, [[2, 1], [3, 2], [4, 3]]);
  assert.deepEqual(first, [[2, 0], [3, 0], [4, 0]]);
  assert.deepEqual(followers, [[3, 2]]); // what follows the first token is no find
  const now = seen();
  assert.deepEqual(strongest(now, meanOver(now, [[4, 1]])), { layer: 0, head: 2 });
});

test("the sentence says the weight, its rank, and how many heads share it", () => {
  assert.equal(
    sayPair(seen()),
    "Block 0, head 1: token 4, “b” gives 0.80 of its attention to token 2, “c”; more than to any " +
      "other. Of all 6, 1 head gives this pair half or more.",
  );
  assert.match(sayPair(seen({ key: 4 })), /most, 0\.80, goes to token 2, “c”\. Of all 6, 0 heads/);
});

test("the pointer reads a cell without choosing it, and the chosen one is read again when it goes", () => {
  const { el, model } = shown();
  const node = el.querySelector("svg.tb-map");
  const move = new Event("pointermove");
  node.hasPointerCapture = () => false;
  node.dispatchEvent(Object.assign(move, { clientX: 40, clientY: 134 + 5, pointerType: "mouse" }));
  assert.equal(texts(el, ".tb-readout")[0], "a → a: 0.80");
  assert.equal(model.saved, 0);
  node.dispatchEvent(new Event("pointerleave"));
  assert.equal(texts(el, ".tb-readout")[0], "b → c: 0.80");
});
