// Gate scope: one feature of a gated net, what passes and what each path learns.

import {
  brief,
  button,
  fixed,
  html,
  picture,
  slider,
  sliders,
  spokenText,
} from "./common.js";
import { curvePanel } from "./gate_scope_curves.js";
import { GATES, UPS, look, sayGradient, sayProduct } from "./gate_scope_numbers.js";
import { areaPanel, gradientPanel } from "./gate_scope_paths.js";
import { living } from "./living.js";
import { tableOnDemand } from "./tables.js";

const PLACES = [
  { text: "Open", to: { gate: 1.5, up: 2 } },
  { text: "Nearly shut", to: { gate: -0.5, up: 2 } },
  { text: "Far shut", to: { gate: -6, up: 2 } },
  { text: "Nothing to let through", to: { gate: 1.5, up: 0 } },
];

export default living({ moved: ["gate", "up", "curve"], sent: ["yours"] }, build);

function build(life, hands) {
  const { change, reset } = hands;
  const range = ([min, max]) => ({ min, max, step: 0.05 });
  const gate = slider(life, "Gate", range(GATES), (gate) => change({ gate }));
  const up = slider(life, "Up", range(UPS), (up) => change({ up }));
  const panels = [curvePanel, areaPanel, gradientPanel].map((panel) => panel(life, hands));
  const [productWords, gradientWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const buttons = PLACES.map(({ text, to }) => button(life, text, () => change(to)));
  return {
    node: picture(
      [
        panels[0].node,
        sliders(gate, up),
        html("div", { class: "tb-buttons" }, ...buttons, button(life, "Reset", reset)),
        productWords.node,
      ],
      [panels[1].node, panels[2].node, gradientWords.node, yourWords.node],
      numbers.node,
    ),
    show(state) {
      const now = look(state);
      gate.show(now.gate);
      up.show(now.up);
      for (const panel of panels) panel.show(now);
      productWords.say(sayProduct(now));
      gradientWords.say(sayGradient(now));
      yourWords.say(now.message);
      numbers.show(() => [table(now)]);
    },
  };
}

function table({ gate, up, curves, all }) {
  return {
    caption: `Gate ${brief(gate)}, up ${brief(up)}, a gradient of 1 on the product`,
    columns: ["curve", "opens to", "slope", "product", "to up", "to the gate"],
    rows: Object.entries(all).map(([kind, { open, slope, product, toUp, toGate }]) => [
      curves[kind].name,
      ...[open, slope, product, toUp, toGate].map((x) => fixed(x)),
    ]),
  };
}
