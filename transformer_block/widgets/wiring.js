// Wiring: three ways to build a block, and what they do to stream and gradient in a deep stack.

import {
  brief,
  button,
  choice,
  fixed,
  html,
  picture,
  slider,
  sliders,
  spokenText,
} from "./common.js";
import { living } from "./living.js";
import { DEEPEST, WEIGHTS, look, sayGradient, sayStream } from "./wiring_numbers.js";
import { planPanel } from "./wiring_plan.js";
import { sizePanel } from "./wiring_sizes.js";
import { tableOnDemand } from "./tables.js";

const GRADIENT = {
  of: "gradient",
  title: "The gradient on its way down",
  subtitle: "It enters at the top, on the right, with RMS 1; drag the line",
  name: "RMS of the gradient after each block, for each wiring",
  up: "RMS of the gradient",
};
const STREAM = {
  of: "stream",
  title: "The stream on its way up",
  subtitle: "It enters at the bottom, on the left, with RMS 1",
  name: "RMS of the stream after each block, for each wiring",
  up: "RMS of the stream",
};

export default living(
  { moved: ["depth", "layer", "order", "weights"], sent: ["streams", "gradients", "yours"] },
  build,
);

function build(life, hands) {
  const { now, change, reset } = hands;
  const depth = slider(life, "Depth", { min: 1, max: DEEPEST, step: 1 }, (depth) =>
    change({ depth, layer: Math.min(depth, now().layer) }),
  );
  const layer = slider(life, "After block", { min: 0, max: DEEPEST, step: 1 }, (layer) =>
    change({ layer: Math.min(layer, now().depth) }),
  );
  const weights = choice(life, "How large the weights are", WEIGHTS, (weights) =>
    change({ weights }),
  );
  const plans = planPanel(life, hands);
  const gradient = sizePanel(life, hands, GRADIENT);
  const stream = sizePanel(life, hands, STREAM);
  const [gradientWords, streamWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const buttons = html("div", { class: "tb-buttons" }, button(life, "Reset", reset));
  return {
    node: picture(
      [plans.node, sliders(depth, layer), weights.node, buttons],
      [gradient.node, gradientWords.node, stream.node, streamWords.node, yourWords.node],
      numbers.node,
    ),
    show(state) {
      const seen = look(state);
      depth.show(seen.depth);
      layer.show(seen.layer);
      weights.show(seen.weights);
      for (const panel of [plans, gradient, stream]) panel.show(seen);
      gradientWords.say(sayGradient(seen));
      streamWords.say(sayStream(seen));
      yourWords.say(seen.message);
      numbers.show(() => [table(seen, GRADIENT), table(seen, STREAM)]);
    },
  };
}

/** At most a dozen layers, the lowest and the highest among them. */
function table({ series, depth }, { of, up }) {
  const every = Math.ceil(depth / 10);
  const layers = Array.from({ length: depth + 1 }, (_, i) => i).filter(
    (i) => i % every === 0 || i === depth,
  );
  return {
    caption: `${up}, ${depth} ${depth === 1 ? "block" : "blocks"}`,
    columns: ["after block", ...series.map(({ name }) => name)],
    rows: layers.map((i) => [brief(i), ...series.map((one) => fixed(one[of][i]))]),
  };
}
