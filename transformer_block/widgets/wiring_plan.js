// Panel 1 of the wiring: how norm, sublayer and add are wired, three small plans to choose from.

import { chart, label, redraw, shape } from "./charts.js";
import { choice, html, panel } from "./common.js";
import { ORDERS } from "./wiring_numbers.js";

const DEEP = 92;
const BOX = { width: 44, height: 24 };
const LINE = 66; // the height of the stream in a plan
const BRANCH = 34;

/** Build the panel; `change({ order })` is called for a choice. */
export function planPanel(life, { change, settle }) {
  const plans = chart("Plans of half a block: pre-norm, post-norm, no residual");
  const picker = html("div", {});
  const width = life.widthOf(plans, settle);
  let choices;
  return {
    node: panel(
      "Three ways to wire a block",
      "Half a block each; f is attention in the first half, the feed-forward net in the second",
      picker,
      plans,
    ),
    show({ series, chosen }) {
      const names = series.map(({ name }) => name).join();
      if (choices?.names !== names) {
        const options = Object.fromEntries(series.map(({ kind, name }) => [kind, name]));
        choices = { ...choice(life, "The wiring", options, (order) => change({ order })), names };
        picker.replaceChildren(choices.node);
      }
      choices.show(chosen);
      const frame = frameOf(width());
      redraw(
        plans,
        frame,
        Object.keys(ORDERS).flatMap((kind, i) => plan(frame, kind, i, chosen)),
      );
    },
  };
}

function frameOf(width) {
  const across = width >= 520 ? 3 : 1;
  const cell = Math.min((width - (across - 1) * 24) / across, 280);
  return { width, height: (DEEP + 8) * (3 / across), across, cell };
}

/** A plan: the stream from left to right, what stands on it, and the branch above it. */
function plan({ across, cell }, kind, place, chosen) {
  const left = (place % across) * (cell + 24);
  const top = Math.floor(place / across) * (DEEP + 8);
  const x = (share) => left + share * cell;
  const look = `tb-${kind} ${kind === chosen ? "tb-chosen" : "tb-beside"}`;
  const [line, branch] = [top + LINE, top + BRANCH + 6];
  const wire = (d) => shape("path", { class: `tb-wire ${look}`, d });
  const box = (share, y, words) => [
    shape("rect", {
      class: `tb-box ${look}`,
      x: x(share) - BOX.width / 2,
      y: y - BOX.height / 2,
      rx: 6,
      ...BOX,
    }),
    label("tb-box-name", x(share), y + 4.5, words, "middle"),
  ];
  const add = (share) => [
    shape("circle", { class: `tb-box ${look}`, cx: x(share), cy: line, r: 10 }),
    label("tb-box-name", x(share), line + 4.5, "+", "middle"),
  ];
  const side = (from, to) => wire(`M${x(from)} ${line}V${branch}H${x(to)}V${line}`);
  const parts = {
    pre: () => [
      side(0.1, 0.86),
      ...box(0.34, branch, "norm"),
      ...box(0.62, branch, "f"),
      ...add(0.86),
    ],
    post: () => [
      side(0.1, 0.58),
      ...box(0.34, branch, "f"),
      ...add(0.58),
      ...box(0.8, line, "norm"),
    ],
    none: () => [...box(0.34, line, "norm"), ...box(0.62, line, "f")],
  };
  return [
    label("tb-plan-name", left, top + 14, ORDERS[kind].formula),
    wire(`M${left} ${line}H${x(1) - 2}`),
    wire(`M${x(1) - 8} ${line - 5}L${x(1) - 2} ${line}L${x(1) - 8} ${line + 5}`),
    ...parts[kind](),
  ];
}
