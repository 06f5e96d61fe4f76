// Gradient-check dial: what a finite difference is worth at each step.

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
import { digitPanel } from "./gradcheck_dial_digits.js";
import { errorPanel, stepAt } from "./gradcheck_dial_errors.js";
import { POWERS, look, powerAt, sayDigits, sayErrors } from "./gradcheck_dial_numbers.js";
import { living } from "./living.js";
import { tableOnDemand } from "./tables.js";

export default living(
  { moved: ["step", "case"], sent: ["errors", "losses", "facts", "yours"] },
  build,
);

function build(life, hands) {
  const { now, change, reset } = hands;
  const range = {
    min: POWERS[0],
    max: POWERS[1],
    step: 0.1,
    at: Math.log10,
    from: stepAt,
    words: (x) => brief(x, 2),
  };
  const step = slider(life, "Step", range, (x) => change({ step: x }));
  const errors = errorPanel(life, hands);
  const digits = digitPanel();
  const [errorWords, digitWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const goToBest = (i) => change({ step: stepAt(powerAt(look(now()).series[i].best)) });
  const buttons = [
    button(life, "Best for float64", () => goToBest(0)),
    button(life, "Best for float32", () => goToBest(1)),
    button(life, "Reset", reset),
  ];
  return {
    node: picture(
      [
        errors.node,
        digits.key,
        sliders(step),
        html("div", { class: "tb-buttons" }, ...buttons),
        errorWords.node,
      ],
      [digits.node, digitWords.node, yourWords.node],
      numbers.node,
    ),
    show(state) {
      const seen = look(state);
      step.show(seen.step);
      errors.show(seen);
      digits.show(seen);
      errorWords.say(sayErrors(seen));
      digitWords.say(sayDigits(seen));
      yourWords.say(seen.message);
      numbers.show(() => [table(seen)]);
    },
  };
}

function table({ series, names, kind, place, step }) {
  const places = [place, ...Array.from({ length: 12 }, (_, i) => 10 * i).filter((i) => i <= 110)];
  return {
    caption: `Relative error: ${names[kind]}`,
    columns: ["step", ...series.map(({ dtype }) => dtype)],
    rows: places.map((i, row) => [
      row ? brief(10 ** powerAt(i), 2) : `now: ${brief(step, 2)}`,
      ...series.map(({ errors }) => fixed(errors[i])),
    ]),
  };
}
