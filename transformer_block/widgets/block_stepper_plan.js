// The plan of the block: the stream on the left, both branches beside it; what is active lights up.

import { chart, label, redraw, shape } from "./charts.js";
import { clamp, panel } from "./common.js";
import { STEPS } from "./block_stepper_steps.js";

const WIDTH = 300;
const PITCH = 40;
const TOP = 14;
const STREAM = 40; // where the stream runs
const [LEFT, MIDDLE, RIGHT] = [108, 184, 260];
const BOX = { width: 58, height: 22 };

/** Of each node its place, in rows from the top, and its words; no words: a point of the stream. */
const NODES = {
  start: [STREAM, 0],
  x: [STREAM, 0.8],
  norm1: [MIDDLE, 0.8, "norm"],
  q: [LEFT, 1.9, "q"],
  k: [MIDDLE, 1.9, "k"],
  v: [RIGHT, 1.9, "v"],
  rope_q: [LEFT, 2.9, "RoPE"],
  rope_k: [MIDDLE, 2.9, "RoPE"],
  scores: [(LEFT + MIDDLE) / 2, 3.9, "scores"],
  softmax: [(LEFT + MIDDLE) / 2, 4.9, "softmax"],
  mix: [MIDDLE, 5.9, "heads"],
  W_o: [MIDDLE, 6.9, "W_o"],
  add1: [STREAM, 6.9],
  u: [STREAM, 8],
  norm2: [MIDDLE, 8, "norm"],
  gate: [LEFT + 32, 9.1, "gate"],
  up: [RIGHT - 32, 9.1, "up"],
  product: [MIDDLE, 10.1, "product"],
  W_down: [MIDDLE, 11.1, "W_down"],
  add2: [STREAM, 11.1],
  out: [STREAM, 12],
};
export const HEIGHT = 2 * TOP + 12 * PITCH + 10;

const WIRES = [
  ...["start-x", "x-norm1", "norm1-q", "norm1-k", "norm1-v", "q-rope_q", "k-rope_k", "rope_q-scores"],
  ...["rope_k-scores", "scores-softmax", "softmax-mix", "v-mix", "mix-W_o", "W_o-add1", "x-add1"],
  ...["add1-u", "u-norm2", "norm2-gate", "norm2-up", "gate-product", "up-product"],
  ...["product-W_down", "W_down-add2", "u-add2", "add2-out"],
];

/** Build the panel; `go(step)` is called for a press on a node. */
export function planPanel(life, { go }) {
  const plan = chart("Plan of the block: a stream with two branches, the active wires lit", "tb-plan");
  life.listen(plan, "click", (event) => {
    const box = plan.getBoundingClientRect();
    const scale = WIDTH / box.width;
    const at = nodeAt((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    if (at) go(at);
  });
  return {
    node: panel("The way through the block", "Press a part to go there", plan),
    show: (seen) => redraw(plan, { width: WIDTH, height: HEIGHT }, draw(seen)),
  };
}

const placeOf = (name) => [NODES[name][0], TOP + NODES[name][1] * PITCH];

/** The node under a point, if there is one. */
export function nodeAt(x, y) {
  return Object.keys(NODES).find((name) => {
    const [a, b] = placeOf(name);
    return Math.abs(a - x) <= BOX.width / 2 && Math.abs(b - y) <= PITCH / 2;
  });
}

/** The step that stands at a node, in the pass that is shown. */
export function stepAt(node, back, turn) {
  const twin = { q: "v", k: "v", rope_k: "rope_q", up: "gate", start: "x", out: "add2" };
  const from = back ? turn : 0;
  const here = node === "u" && !back ? "add1" : (twin[node] ?? node);
  const found = STEPS.slice(from, back ? undefined : turn).findIndex(({ at }) => at === here);
  return from + found;
}

function draw({ wires, at, back }) {
  const lit = new Set(wires);
  const ends = wires.map((wire) => wire.split("-").at(-1));
  const active = new Set(NODES[at][2] ? ends.filter((name) => NODES[name][2]) : [at]);
  const way = back ? "tb-down" : "tb-up";
  return [
    ...WIRES.map((wire) => shape("path", { class: "tb-wire", d: pathOf(cornersOf(wire, back)) })),
    ...WIRES.filter((wire) => lit.has(wire)).flatMap((wire) => light(wire, back, way)),
    ...Object.keys(NODES).flatMap((name) => drawNode(name, active.has(name), back, way)),
    ...streamWords(back, at),
  ];
}

/** The corners of a wire, in the direction in which something goes along it. */
function cornersOf(wire, back) {
  const [from, to] = wire.split("-");
  const [[x1, y1], [x2, y2]] = [placeOf(from), placeOf(to)];
  if (y1 === y2) {
    const side = Math.sign(x2 - x1);
    return [[x1 + side * reach(from, back), y1], [x2 - side * reach(to, back), y2]];
  }
  const [begin, end] = [y1 + drop(from, back), y2 - drop(to, back)];
  if (x1 === x2) return [[x1, begin], [x2, end]];
  const enter = x2 + clamp((x1 - x2) / 4, -14, 14); // two that enter one box stand beside each other
  return [[x1, begin], [x1, end - 15], [enter, end - 9], [enter, end]];
}

const isSum = (name, back) => ["add1", "add2"].includes(name) !== back;
const isEnd = (name) => name === "start" || name === "out";
const radius = (name, back) => (isEnd(name) ? 0 : isSum(name, back) ? 10 : 4.5);
const reach = (name, back) => (NODES[name][2] ? BOX.width / 2 : radius(name, back));
const drop = (name, back) => (NODES[name][2] ? BOX.height / 2 : radius(name, back));

const pathOf = (corners) => corners.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("");

/** A lit wire over the quiet one; each has an element of its own, so that it runs when it lights up. */
function light(wire, back, way) {
  const corners = cornersOf(wire, back);
  if (back) corners.reverse();
  const [[x1, y1], [x2, y2]] = corners.slice(-2);
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const line = { class: `tb-wire tb-lit ${way}`, d: pathOf(corners), pathLength: 1 };
  return [
    shape("path", line, "", `${wire} ${way}`),
    shape("path", {
      class: `tb-arrow ${way}`,
      d: "M1 0L-8 -5.5L-8 5.5Z",
      transform: `translate(${x2} ${y2}) rotate(${turn})`,
    }),
  ];
}

/** A box with words; on the stream a sum where two ways meet, and a dot where one becomes two. */
function drawNode(name, on, back, way) {
  const [x, y] = placeOf(name);
  const words = NODES[name][2];
  const look = `tb-node ${on ? `tb-lit ${way}` : ""}`.trim();
  if (words) {
    const box = { x: x - BOX.width / 2, y: y - BOX.height / 2, rx: 6, ...BOX };
    return [
      shape("rect", { class: look, ...box }),
      label("tb-node-name", x, y + 4.5, words, "middle"),
    ];
  }
  if (isEnd(name)) return [];
  const place = { cx: x, cy: y, r: radius(name, back) };
  if (!isSum(name, back)) return [shape("circle", { class: `${look} tb-fork`, ...place })];
  return [
    shape("circle", { class: look, ...place }),
    label("tb-node-name", x, y + 4.5, "+", "middle"),
  ];
}

/** What the stream is called along its way. */
function streamWords(back, at) {
  const [x0, y0] = placeOf("start");
  const words = back ? ["dx", "dresidual", "dout"] : ["x", "residual", "out"];
  const split = (name) => (back && at === name ? ["split"] : []);
  const [, y1] = placeOf("u");
  const [, y2] = placeOf("out");
  const below = (placeOf("add1")[1] + y1) / 2;
  return [
    label("tb-array", x0 + 8, y0 + 6, words[0]),
    label("tb-array", x0 + 8, below + 8, words[1]),
    label("tb-array", x0 + 8, y2 + 4, words[2]),
    ...["add1", "add2"].flatMap((name) =>
      split(name).map((word) => label("tb-array tb-down", 2, placeOf(name)[1] + 4, word)),
    ),
  ];
}
