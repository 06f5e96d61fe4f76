// Counting ledger: what the shape of a model costs, in parameters and in FLOPs of a token.

import {
  button,
  html,
  picture,
  refill,
  slider,
  spokenText,
  update,
} from "./common.js";
import { barPanel, tile } from "./counting_ledger_bars.js";
import { tick } from "./counting_ledger_controls.js";
import {
  full,
  inWords,
  look,
  percent,
  reshaped,
  sayFlops,
  sayParameters,
  shapeOf,
  squares,
  titleOfBlock,
  titleOfModel,
  titleOfToken,
} from "./counting_ledger_numbers.js";
import { living } from "./living.js";
import { tableOnDemand } from "./tables.js";

const SLIDERS = {
  d_model: ["width d", { min: 64, max: 12288, step: 64 }],
  d_ff: ["width of the net h", { min: 64, max: 32768, step: 64 }],
  n_layers: ["layers L", { min: 1, max: 128 }],
  n_heads: ["query heads H", { min: 1, max: 128 }],
  n_kv_heads: ["key heads", { min: 1, max: 128 }],
  vocab_rows: ["vocabulary V", { min: 256, max: 262144 }],
};
const CONTEXT = { min: 7, max: 20, from: (power) => 2 ** power, at: Math.log2 };

export default living({ moved: ["shape", "T"], sent: ["presets"] }, build);

function build(life, hands) {
  const controls = controlsOf(life, hands);
  const model = barPanel(
    life,
    "The whole model, each number counted once",
    "The parameters of the model, part by part",
    hands.settle,
  );
  const block = barPanel(
    life,
    "Its matrices in units of d², beside two rules of thumb: 12\u00a0d² and 16\u00a0d²",
    "The matrices of one block, with marks at 12 d² and 16 d²",
    hands.settle,
  );
  const token = barPanel(
    life,
    "FLOPs of all matrix products, every query with all T keys; below, 6 times the parameters",
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
    show(state) {
      const now = look(state);
      controls.show(now);
      refill(tiles, ...tilesOf(now));
      model.show(titleOfModel(now), [{ parts: now.parts }]);
      block.show(titleOfBlock(now), [
        { parts: now.block, marks: now.marks, value: (n) => squares(n, now.shape) },
      ]);
      token.show(titleOfToken(now), [
        { parts: now.flops },
        { parts: { "the rule of thumb": now.sixN }, value: (n) => `6N = ${inWords(n)}`, low: true },
      ]);
      words.say(sayParameters(now));
      cost.say(sayFlops(now));
      numbers.show(() => tablesOf(now));
    },
  };
}

function controlsOf(life, { change, now }) {
  const set = (key) => (value) => change({ shape: reshaped(now().shape, key, value) });
  const sliders = Object.entries(SLIDERS).map(([key, [name, range]]) => [
    key,
    slider(life, name, { step: 1, words: full, ...range }, set(key)),
  ]);
  const long = { step: 1, words: full, ...CONTEXT };
  const context = slider(life, "context T", long, (T) => change({ T }));
  const tied = tick(life, "the head is tied to the embedding", set("tied_embeddings"));
  const presets = Object.keys(now().presets).map((name) =>
    button(life, name, () => change({ shape: shapeOf(now().presets[name]) })),
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
    tile("parameters", inWords(total), full(total)),
    tile("FLOPs a token", inWords(exact), `6N is ${full(sixN)}`),
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
