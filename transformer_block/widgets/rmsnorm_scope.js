// RMSNorm scope: what ε does to a small input, and RMSNorm beside LayerNorm.

import {
  brief,
  fixed,
  html,
  lifetime,
  logSlider,
  picture,
  spokenText,
  tableOnDemand,
} from "./common.js";
import { SIZE_POWERS, epsPanel } from "./rmsnorm_scope_eps.js";
import {
  look,
  mean,
  outputRms,
  rms,
  sayEps,
  sayNorms,
  sayYours,
  seriesOf,
  tidy,
} from "./rmsnorm_scope_numbers.js";
import { vectorPanel } from "./rmsnorm_scope_vector.js";

const EPS_POWERS = [-12, 0];
const TRAITS = ["vector", "scale", "eps", "yours"];

const take = (model) => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));

/** One picture of one model: build it, keep it in step, and return what ends it. */
function view(model, el, start) {
  const life = lifetime(model);
  let before = null; // what the last button changed, until something else changes

  const hands = {
    now: () => look(take(model)), // the model may be ahead of what is drawn
    change(values) {
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      model.save_changes();
    },
    push({ done, to }) {
      const now = hands.now();
      const vector = to(now.vector);
      before = {
        done,
        vector: now.vector,
        series: seriesOf(now),
        stamp: stamp({ ...now, vector }),
      };
      hands.change({ vector });
    },
    reset: () => hands.change({ vector: start.vector, scale: start.scale, eps: start.eps }),
    settle: life.oncePerFrame(draw),
  };
  const { node, show } = build(life, hands);

  function draw() {
    const now = hands.now();
    if (before?.stamp !== stamp(now)) before = null;
    show(now, before);
  }

  el.append(node);
  draw();
  life.watch(TRAITS, hands.settle);
  return () => {
    life.end();
    node.remove();
  };
}

const stamp = ({ vector, scale, eps }) => [scale, eps, ...vector].join();

function build(life, hands) {
  const { change } = hands;
  const scale = logSlider(life, "Input scale", SIZE_POWERS, (scale) => change({ scale }));
  const eps = logSlider(life, "ε", EPS_POWERS, (eps) => change({ eps }));
  const curves = epsPanel(life, hands);
  const bars = vectorPanel(life, hands);
  const [epsWords, normWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const sliders = html("div", { class: "tb-sliders" }, scale.node, eps.node);
  return {
    node: picture(
      [curves.node, sliders, epsWords.node],
      [bars.node, normWords.node, yourWords.node],
      numbers.node,
    ),
    show(now, before) {
      scale.show(now.scale);
      eps.show(now.eps);
      curves.show(now);
      bars.show(now, before);
      epsWords.say(sayEps(now));
      normWords.say(sayNorms(now, before));
      yourWords.say(sayYours(now));
      numbers.show(() => [epsTable(now), featureTable(now)]);
    },
  };
}

function epsTable({ size, eps }) {
  const powers = Array.from({ length: SIZE_POWERS[1] - SIZE_POWERS[0] + 1 }, (_, i) => i);
  const sizes = [size, ...powers.map((i) => 10 ** (i + SIZE_POWERS[0]))];
  return {
    caption: `RMS of the output, ε = ${brief(eps)}`,
    columns: ["RMS of the input", "ε inside", "ε outside", "no ε"],
    rows: sizes.map((s, i) => [
      i ? brief(s) : `now: ${brief(s)}`,
      ...["inside", "outside", "absent"].map((form) => fixed(outputRms[form](s, eps))),
    ]),
  };
}

function featureTable(now) {
  const { rmsnorm, layernorm, ...yours } = seriesOf(now);
  const columns = { vector: now.vector, RMSNorm: rmsnorm, LayerNorm: layernorm, ...yours };
  const row = (name, pick) => [name, ...Object.values(columns).map((x) => fixed(pick(x)))];
  return {
    caption: `Each feature; the norms are given ${brief(now.scale)} × vector`,
    columns: ["feature", ...Object.keys(columns)],
    rows: [
      ...now.vector.map((_, i) => row(String(i + 1), (column) => column[i])),
      row("mean", (column) => tidy(mean(column), rms(column))),
      row("RMS", rms),
    ],
  };
}

export default () => {
  let start; // what the model held first: where "Reset" goes back to
  return {
    initialize({ model }) {
      start = take(model);
    },
    render: ({ model, el }) => view(model, el, start),
  };
};
