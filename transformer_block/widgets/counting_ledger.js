// Counting ledger: what the shape of a model costs, in parameters and in FLOPs of a token.

import { button, html, lifetime, picture, spokenText, tableOnDemand, update } from "./common.js";
import { barPanel, tile } from "./counting_ledger_bars.js";
import { numberSlider, tick } from "./counting_ledger_controls.js";
import {
  full,
  look,
  percent,
  reshaped,
  sayFlops,
  sayParameters,
  shapeOf,
} from "./counting_ledger_numbers.js";

const TRAITS = ["shape", "T", "presets"];
const SLIDERS = {
  d_model: ["width d", { min: 64, max: 12288, step: 64 }],
  d_ff: ["width of the net h", { min: 64, max: 32768, step: 64 }],
  n_layers: ["layers L", { min: 1, max: 128 }],
  n_heads: ["query heads H", { min: 1, max: 128 }],
  n_kv_heads: ["key heads G", { min: 1, max: 128 }],
  vocab_rows: ["vocabulary V", { min: 256, max: 262144 }],
};
const CONTEXT = { min: 7, max: 20, read: (power) => 2 ** power, write: Math.log2 };

const take = (model) => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));

/** One picture of one model: build it, keep it in step, and return what ends it. */
function view(model, el) {
  const life = lifetime(model);
  const change = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const settle = life.oncePerFrame(draw);
  const { node, show } = build(life, { change, settle, held: () => take(model) });

  function draw() {
    show(look(take(model)));
  }

  el.append(node);
  draw();
  life.watch(TRAITS, settle);
  return () => {
    life.end();
    node.remove();
  };
}

function build(life, hands) {
  const controls = controlsOf(life, hands);
  const model = barPanel(
    life,
    "Parameters",
    "The whole model, each number counted once",
    "The parameters of the model, part by part",
    hands.settle,
  );
  const block = barPanel(
    life,
    "One block",
    "Its matrices, beside 12d² and 16d²",
    "The matrices of one block, with marks at 12d² and 16d²",
    hands.settle,
  );
  const token = barPanel(
    life,
    "One token of training",
    "All matrix products, every query with all T keys; and 6N",
    "The FLOPs of one token of training, part by part, and 6N below on the same scale",
    hands.settle,
  );
  const tiles = html("div", { class: "tb-tiles" });
  const [words, cost] = [1, 2].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  return {
    node: picture(
      [controls.node],
      [tiles, model.node, block.node, words.node, token.node, cost.node],
      numbers.node,
    ),
    show(now) {
      controls.show(now);
      tiles.replaceChildren(...tilesOf(now));
      model.show([{ name: "", parts: now.parts }]);
      block.show([{ name: "", parts: now.block, marks: now.marks }]);
      token.show([
        { name: "exact", parts: now.flops },
        { name: "6N", parts: { "6N": now.sixN } },
      ]);
      words.say(sayParameters(now));
      cost.say(sayFlops(now));
      numbers.show(() => tablesOf(now));
    },
  };
}

function controlsOf(life, { change, held }) {
  const set = (key) => (value) => change({ shape: reshaped(held().shape, key, value) });
  const sliders = Object.entries(SLIDERS).map(([key, [name, range]]) => [
    key,
    numberSlider(life, name, range, set(key)),
  ]);
  const context = numberSlider(life, "context T", CONTEXT, (T) => change({ T }));
  const tied = tick(life, "the head is tied to the embedding", set("tied_embeddings"));
  const presets = Object.keys(held().presets).map((name) =>
    button(life, name, () => change({ shape: shapeOf(held().presets[name]) })),
  );
  const rows = [...sliders.map(([, slider]) => slider.node), context.node, tied.node];
  return {
    node: html(
      "div",
      { class: "tb-panel" },
      html("div", { class: "tb-buttons", role: "group", "aria-label": "Published models" }, ...presets),
      html("div", { class: "tb-sliders" }, ...rows),
    ),
    show({ shape, T, preset }) {
      for (const [key, slider] of sliders) slider.show(shape[key]);
      context.show(T);
      tied.show(shape.tied_embeddings);
      for (const one of presets) update(one, "aria-pressed", one.textContent === preset);
    },
  };
}

function tilesOf({ total, exact, sixN, flops }) {
  const share = flops["scores and mixing"] / exact;
  return [
    tile("parameters", total, full(total)),
    tile("FLOPs a token", exact, `6N is ${full(sixN)}`),
    tile("the T term", percent(share), "of these FLOPs"),
  ];
}

function tablesOf({ parts, total, flops, exact, sixN, block, marks }) {
  const rows = (numbers) => Object.entries(numbers).map(([name, n]) => [name, full(n)]);
  return [
    {
      caption: "Parameters",
      columns: ["part", "numbers"],
      rows: rows({ ...parts, together: total }),
    },
    {
      caption: "One block",
      columns: ["part", "numbers"],
      rows: rows({ ...block, ...marks }),
    },
    {
      caption: "FLOPs of one token of training",
      columns: ["part", "FLOPs"],
      rows: rows({ ...flops, together: exact, "6N": sixN }),
    },
  ];
}

export default { render: ({ model, el }) => view(model, el) };
