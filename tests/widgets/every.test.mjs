// What holds for every picture, whatever it shows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { attended } from "./attended.mjs";
import { gatesOf } from "./gates_of.mjs";
import { ledgers } from "./ledgers.mjs";
import { measured } from "./measured.mjs";
import { stacked } from "./stacked.mjs";
import { nextFrame, shower, slide, texts } from "./stage.mjs";
import { walked } from "./walked.mjs";
import attentionMap from "../../transformer_block/widgets/attention_map.js";
import blockStepper from "../../transformer_block/widgets/block_stepper.js";
import countingLedger from "../../transformer_block/widgets/counting_ledger.js";
import { shapeOf } from "../../transformer_block/widgets/counting_ledger_numbers.js";
import gateMap from "../../transformer_block/widgets/gate_map.js";
import gateScope from "../../transformer_block/widgets/gate_scope.js";
import gradcheckDial from "../../transformer_block/widgets/gradcheck_dial.js";
import ropeDial from "../../transformer_block/widgets/rope_dial.js";
import rmsnormScope from "../../transformer_block/widgets/rmsnorm_scope.js";
import streamLedger from "../../transformer_block/widgets/stream_ledger.js";
import wiring from "../../transformer_block/widgets/wiring.js";

const SHARED = [768, 12, 12, 4, 64, 3072, 2, 50257, 1024, 1, 1, 1, 1, 0, 2, 1536, 0]; // key heads

const PICTURES = {
  "attention map": [attentionMap, attended()],
  "gate map": [gateMap, gatesOf()],
  "counting ledger": [
    countingLedger,
    { shape: shapeOf(SHARED), T: 1024, presets: { shared: SHARED } },
  ],
  "block stepper": [blockStepper, { step: 3, ...walked() }],
  "gate scope": [gateScope, { gate: 1.5, up: 2, curve: "silu", yours: {} }],
  "gradient-check dial": [gradcheckDial, { step: 1e-5, case: "right", yours: {}, ...measured(3) }],
  "RoPE dial": [
    ropeDial,
    {
      query: [1.2, 0.4, -0.6, 0.9],
      key: [0.9, 0.7, 0.2, 1.1],
      query_at: 5,
      key_at: 2,
      shift: 0,
      pairing: "interleaved",
      rope_base: 1e4,
      yours: {},
    },
  ],
  "RMSNorm scope": [rmsnormScope, { vector: [0.8, 1.4, -0.2], scale: 0.1, eps: 1e-5, yours: {} }],
  "stream ledger": [streamLedger, { ...ledgers(), token: 0 }],
  wiring: [
    wiring,
    { depth: 16, layer: 0, order: "pre", weights: "small", yours: {}, ...stacked(3) },
  ],
};

for (const [name, [picture, state]] of Object.entries(PICTURES)) {
  const show = shower(picture, state);
  const sliders = (el) => [...el.querySelectorAll("input[type=range]")];
  const drawn = (el) => [...texts(el, "svg text"), ...texts(el, "strong")];

  test(`${name}: every slider changes the model and the drawing`, () => {
    for (const i of sliders(show().el).keys()) {
      const { el, model } = show();
      const before = [JSON.stringify(model.state), el.innerHTML];
      const input = sliders(el)[i];
      slide(input, input.max === input.value ? input.min : input.max);
      nextFrame();
      assert.notEqual(JSON.stringify(model.state), before[0]);
      assert.notEqual(el.innerHTML, before[1]);
    }
  });

  test(`${name}: two views of one model stay in step, and two models apart`, () => {
    const { places } = show({}, 2);
    const other = show();
    const before = drawn(other.el);
    const [input] = sliders(places[0]);
    slide(input, input.max);
    nextFrame();
    assert.deepEqual(drawn(places[0]), drawn(places[1]));
    assert.notDeepEqual(drawn(places[0]), before);
    assert.deepEqual(drawn(other.el), before);
  });

  test(`${name}: nothing has an id, so two on a page cannot clash`, () => {
    assert.equal(show().el.querySelectorAll("[id]").length, 0);
  });

  test(`${name}: every graphic has a name and every control too`, () => {
    const { el } = show();
    for (const chart of el.querySelectorAll("svg.tb-chart"))
      assert.ok(chart.getAttribute("aria-label"));
    for (const input of el.querySelectorAll("input"))
      assert.ok(input.getAttribute("aria-label") ?? input.closest("label").textContent);
  });

  test(`${name}: every control keeps its keys in JupyterLab`, () => {
    for (const input of show().el.querySelectorAll("input"))
      assert.equal(input.getAttribute("data-lm-suppress-shortcuts"), "true");
  });

  test(`${name}: the numbers are there as tables, when they are asked for`, () => {
    const { el } = show();
    const details = el.querySelector("details");
    assert.equal(details.querySelectorAll("td").length, 0);
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
    for (const table of details.querySelectorAll("table")) {
      const columns = table.querySelectorAll("thead th").length;
      for (const row of table.querySelectorAll("tbody tr"))
        assert.equal(row.children.length, columns);
    }
    assert.doesNotMatch(details.textContent, /undefined|Infinity/);
  });

  test(`${name}: the end removes the view and all its listeners, and leaves the other alone`, () => {
    const { model, places, ends } = show({}, 2);
    const both = model.listeners.length;
    ends[0]();
    assert.equal(places[0].children.length, 0);
    assert.equal(model.listeners.length, both / 2);
    const [input] = sliders(places[1]);
    const before = drawn(places[1]);
    slide(input, input.max);
    nextFrame();
    assert.notDeepEqual(drawn(places[1]), before);
    ends[1]();
    assert.deepEqual(model.listeners, []);
  });
}
