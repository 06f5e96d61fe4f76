// What Python sends to the block stepper, made up: every number tells by its value where it belongs.

import { STEPS, isBack } from "../../transformer_block/widgets/block_stepper_steps.js";

const HEADS = new Set("q k v q_turned k_turned dmixed dv dq dk dq_turned dk_turned".split(" "));
const OPERATORS = new Set(["→", "+", "="]);

const shapeOf = (name) => {
  if (/(scores|weights)$/.test(name)) return [2, 3, 3];
  if (/(gate|up|hidden)$/.test(name) && !name.startsWith("from")) return [3, 6];
  if (/_norm$/.test(name)) return [4];
  return HEADS.has(name) ? [2, 3, 2] : [3, 4];
};

const names = new Set(
  STEPS.flatMap(({ show, grads = [] }) => [
    ...show.split(" ").filter((word) => !OPERATORS.has(word)),
    ...grads,
  ]),
);

/** Array number n holds n, n + 1/100, n + 2/100 …, every second one below zero. */
export function walked(change = (numbers) => numbers) {
  const shapes = [...names].map((name) => [name, shapeOf(name)]);
  const numbers = shapes.flatMap(([, shape], n) => {
    const size = shape.reduce((product, axis) => product * axis, 1);
    return Array.from({ length: size }, (_, i) => (n + i / 100) * (i % 2 ? -1 : 1));
  });
  const lines = Object.fromEntries(
    STEPS.map(({ id }, i) => [
      id,
      [isBack(i) ? "backward" : "forward", i % 3, (i % 3) + 1, i % 2 ? "part.py" : "", i % 2 ? `made = ${id}` : ""],
    ]),
  );
  return {
    shapes,
    lines,
    values: new DataView(new Float32Array(change(numbers)).buffer),
    listings: { forward: "up 0\nup 1\nup 2\nup 3", backward: "down 0\ndown 1\ndown 2\ndown 3" },
  };
}
