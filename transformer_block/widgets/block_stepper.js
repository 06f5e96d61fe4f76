// Block stepper: a pre-norm block forward and back, one array after the other.

import { remembered } from "./charts.js";
import { fixed, html, slider, spokenText } from "./common.js";
import { listingPanel } from "./block_stepper_listing.js";
import { arraysOf, axesOf, cellWords, look, nameOf, say, shapeWords, titleOf } from "./block_stepper_numbers.js";
import { planPanel, stepAt } from "./block_stepper_plan.js";
import { player } from "./block_stepper_play.js";
import { LAST, TURN, isBack } from "./block_stepper_steps.js";
import { valuesPanel } from "./block_stepper_values.js";
import { living } from "./living.js";
import { tableOnDemand } from "./tables.js";

const TWO_COLUMNS = 640; // as in the stylesheet

export default living(
  { moved: ["step"], sent: ["values", "shapes", "lines", "listings"] },
  build,
);

function build(life, hands) {
  const { now, change } = hands;
  const go = (step) => change({ step });
  const walk = player(life, { now, go });
  const leave = (step) => {
    walk.pause();
    go(step);
  };
  const range = { min: 0, max: LAST, step: 1, words: titleOf };
  const handle = slider(life, "Step", range, leave);
  const plan = planPanel(life, {
    go: (node) => leave(stepAt(node, isBack(now().step), TURN)),
  });
  const values = valuesPanel(life, hands);
  const listing = listingPanel();
  const words = spokenText(life);
  const numbers = tableOnDemand(life, "The numbers");
  const read = remembered(arraysOf);
  let held = null; // what is shown, and in what arrays
  const showHeld = () => {
    values.show(...held, width() >= TWO_COLUMNS);
    listing.show(held[0]);
  };
  const showHeldNext = life.oncePerFrame(showHeld); // the plan and the arrays are too much for one
  const parts = [
    html("div", { class: "tb-column tb-hands" }, handle.node, walk.node),
    html("div", { class: "tb-way" }, plan.node),
    html("div", { class: "tb-says" }, words.node),
    html("div", { class: "tb-code" }, listing.node),
    html("div", { class: "tb-held" }, values.node),
  ];
  const all = html("div", { class: "tb-walk" }, ...parts, numbers.node);
  const width = life.widthOf(all, hands.settle);
  return {
    node: html("div", { class: "tb-picture" }, all),
    show(state) {
      const arrays = read(state.values, state.shapes);
      const seen = look(state, arrays);
      handle.show(seen.step);
      walk.show(seen);
      plan.show(seen);
      const first = !held;
      held = [seen, arrays];
      if (first) showHeld();
      else showHeldNext();
      words.say(say(seen));
      numbers.show(() => tablesOf(seen));
    },
  };
}

/** One table for each array of the step; heads one under the other. */
function tablesOf({ terms, grads }) {
  return [...terms, ...grads].map(({ name, shape, numbers }) => {
    const columns = shape.at(-1);
    const rows = numbers.length / columns;
    const perHead = shape.length > 2 ? shape[1] : rows;
    return {
      caption: `${nameOf(name)}, (${axesOf(name)}) = ${shapeWords(shape)}`,
      columns: ["row", ...Array.from({ length: columns }, (_, j) => String(j))],
      rows: Array.from({ length: rows }, (_, i) => [
        shape.length > 2 ? `head ${Math.floor(i / perHead)}, ${i % perHead}` : String(i),
        ...Array.from(numbers.slice(i * columns, (i + 1) * columns), exact),
      ]),
    };
  });
}

const exact = (x) => (Number.isFinite(x) ? fixed(x, 4) : cellWords(x));
