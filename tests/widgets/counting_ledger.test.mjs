import assert from "node:assert/strict";
import { test } from "node:test";

import { nextFrame, release, shower, slide, texts } from "./stage.mjs";
import widget from "../../transformer_block/widgets/counting_ledger.js";
import {
  KEYS,
  divisorNear,
  full,
  inWords,
  look,
  reshaped,
  sayFlops,
  sayParameters,
  shapeOf,
} from "../../transformer_block/widgets/counting_ledger_numbers.js";

const LLAMA = [4096, 32, 32, 32, 128, 11008, 3, 32000, 0, 0, 0, 0, 0, 0, 2, 4096, 0];
const GPT_2 = [768, 12, 12, 12, 64, 3072, 2, 50257, 1024, 1, 1, 1, 1, 0, 2, 1536, 0];
const PRESETS = { "GPT-2 small": GPT_2, "LLaMA-1/2 7B": LLAMA };

const show = shower(widget, { shape: shapeOf(LLAMA), T: 4096, presets: PRESETS });

const named = (el, name) =>
  [...el.querySelectorAll("label")].find((l) => l.textContent.startsWith(name)).querySelector("input");
const press = (el, name) =>
  [...el.querySelectorAll("button")].find((b) => b.textContent === name).click();
const notes = (el) => texts(el, ".tb-tile .tb-note");

test("it is drawn at once, with no frame and no kernel", () => {
  const { el } = show();
  assert.equal(notes(el)[0], "6,738,415,616");
  assert.match(texts(el, ".tb-spoken")[0], /^LLaMA-1\/2 7B has 6,738,415,616 parameters/);
  assert.equal(el.querySelectorAll(".tb-chart").length, 3);
  assert.equal(el.querySelectorAll(".tb-marker").length, 2); // 12d² and 16d²
});

test("a preset sets every number of its model", () => {
  const { el, model } = show();
  press(el, "GPT-2 small");
  nextFrame();
  assert.deepEqual(Object.values(model.state.shape), GPT_2);
  assert.equal(notes(el)[0], "124,439,808");
  assert.equal(named(el, "vocabulary").value, "50257");
  assert.equal(el.querySelector('[aria-pressed="true"]').textContent, "GPT-2 small");
});

test("every slider sets its number and the box ties the head", () => {
  const { el, model } = show();
  for (const [name, key, value] of [
    ["width d", "d_model", 2048],
    ["width of the net", "d_ff", 640],
    ["layers", "n_layers", 7],
    ["query heads", "n_heads", 16],
    ["key heads", "n_kv_heads", 4],
    ["vocabulary", "vocab_rows", 1000],
  ]) {
    slide(named(el, name), value);
    assert.equal(model.state.shape[key], value, name);
  }
  slide(named(el, "context"), 10);
  assert.equal(model.state.T, 1024);
  const box = named(el, "the head is tied");
  box.checked = true;
  release(box);
  assert.equal(model.state.shape.tied_embeddings, 1);
});

test("what hangs on a number follows it", () => {
  const gpt = shapeOf(GPT_2);
  assert.equal(reshaped(gpt, "d_model", 1536).norm_params_per_norm, 3072);
  assert.equal(reshaped(gpt, "d_model", 1536).head_dim, 128);
  assert.equal(reshaped(gpt, "n_heads", 8).head_dim, 96);
  assert.equal(reshaped(gpt, "n_heads", 8).n_kv_heads, 8);
  assert.equal(reshaped(gpt, "n_kv_heads", 5).n_kv_heads, 4);
  assert.deepEqual(reshaped(gpt, "d_ff", 64), { ...gpt, d_ff: 64 });
  assert.equal(divisorNear(7, 3), 1);
  assert.equal(divisorNear(32, 31, 32), 16); // one key press must move it
  assert.equal(divisorNear(32, 17, 16), 32);
});

test("numbers are written in full", () => {
  assert.equal(full(0), "0");
  assert.equal(full(999), "999");
  assert.equal(full(1000), "1,000");
  assert.equal(full(12345678901), "12,345,678,901");
});

test("the sentences name the model, the shares and the balance", () => {
  const now = look({ shape: shapeOf(GPT_2), T: 1024, presets: PRESETS });
  assert.match(sayParameters(now), /^GPT-2 small has 124,439,808 .* 12 d².* 32 % of the model/);
  assert.match(sayFlops(now), /at T = 1,024, 1\.14 times 6N.* 13 % .* one half at T = 6,702\./);
  assert.match(
    sayParameters(look({ shape: reshaped(now.shape, "n_layers", 3), T: 1, presets: PRESETS })),
    /^This model has/,
  );
});

test("the tables hold every part and what they make together", () => {
  const { el } = show();
  const details = el.querySelector("details");
  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  const cells = texts(el, "td");
  for (const number of ["4,328,521,728", "6,738,415,616", "201,326,592", "268,435,456"])
    assert.ok(cells.includes(number), number);
});

test("every graphic has a name and every control too", () => {
  const { el } = show();
  for (const chart of el.querySelectorAll("svg.tb-chart"))
    assert.ok(chart.getAttribute("aria-label"));
  for (const input of el.querySelectorAll("input")) assert.ok(input.closest("label").textContent);
});

test("two views move together, and the end of one leaves the other alone", () => {
  const { model, places, ends } = show({}, 2);
  slide(named(places[0], "layers"), 9);
  nextFrame();
  assert.equal(named(places[1], "layers").value, "9");
  const both = model.listeners.length;
  ends[0]();
  assert.equal(places[0].children.length, 0);
  assert.equal(model.listeners.length, both / 2);
  ends[1]();
  assert.deepEqual(model.listeners, []);
});

test("a preset has a number for every key", () => {
  assert.equal(KEYS.length, LLAMA.length);
  assert.equal(KEYS.length, GPT_2.length);
});

test("a number is written as people say it", () => {
  assert.deepEqual(
    [0, 999, 4096, 124_439_808, 6_738_415_616, 4.6e13].map(inWords),
    ["0", "999", "4.10 k", "124 M", "6.74 B", "46.0 T"],
  );
});

test("the titles say what is to be seen", () => {
  const { el, model } = show();
  assert.deepEqual(texts(el, ".tb-title"), [
    "6.74\u00a0B parameters, 64\u00a0% of them in the net",
    "One block is 12.1\u00a0d²",
    "One token of training costs 1.14 times 6N",
  ]);
  model.set("shape", shapeOf(GPT_2));
  nextFrame();
  assert.match(texts(el, ".tb-title")[0], /^124\u00a0M parameters, 46\u00a0% of them in the net$/);
});

test("every part has its name on the bar, or under it where it is thin", () => {
  const { el } = show();
  const [model, block] = el.querySelectorAll(".tb-chart");
  assert.deepEqual(texts(model, ".tb-in"), ["32 %", "attention", "2.15 B", "64 %", "net", "4.33 B"]);
  assert.deepEqual(texts(model, ".tb-name"), ["head 1.9 %", "norms and biases 0.004 %", "embedding 1.9 %"]);
  assert.equal(model.querySelectorAll(".tb-lead").length, 3);
  assert.deepEqual(texts(block, ".tb-share"), ["4 d²", "8.06 d²"]);
});

test("names under a bar never touch", () => {
  const { el } = show({ shape: reshaped(shapeOf(GPT_2), "tied_embeddings", 0) });
  const rows = Map.groupBy(el.querySelectorAll(".tb-chart .tb-name"), (name) => name.getAttribute("y"));
  for (const names of rows.values()) {
    const ends = names
      .map((n) => [Number(n.getAttribute("x")), n.textContent.length * 3.1])
      .map(([x, half]) => [x - half, x + half])
      .sort(([a], [b]) => a - b);
    ends.slice(1).forEach(([start], i) => assert.ok(start > ends[i][1]));
  }
});
