// The numbers and the words of the block stepper. Python has computed; this looks up.

import { clamp, numbersFrom } from "./common.js";
import { LAST, STEPS, TURN, isBack } from "./block_stepper_steps.js";

const OPERATORS = new Set(["→", "+", "="]);

/** Cut the bytes from Python into arrays: `{ name: { shape, numbers } }`. */
export function arraysOf(values, shapes) {
  const all = numbersFrom(values, Float32Array);
  let begin = 0;
  return Object.fromEntries(
    shapes.map(([name, shape]) => {
      const size = shape.reduce((product, n) => product * n, 1);
      const numbers = all.subarray(begin, begin + size);
      begin += size;
      return [name, { name, shape, numbers }];
    }),
  );
}

/** Read a line such as "x + attended = residual": the arrays, each with the operator before it. */
export function termsOf(step, arrays) {
  const terms = [];
  let operator = "";
  for (const word of step.show.split(" ")) {
    if (OPERATORS.has(word)) operator = word;
    else {
      const role = step.roles?.[terms.length] ?? "";
      terms.push({ operator, role, ...arrays[word] });
      operator = "";
    }
  }
  return terms;
}

/** Work out all that the picture shows from what the model holds. */
export function look({ step, lines, listings }, arrays) {
  const at = clamp(step, 0, LAST);
  const now = STEPS[at];
  const [way, first, last, file, within] = lines[now.id];
  return {
    ...now,
    step: at,
    back: isBack(at),
    terms: termsOf(now, arrays),
    grads: (now.grads ?? []).map((name) => arrays[name]),
    code: { way, first, last, text: listings[way], file, within },
  };
}

/** Name a step: "Back, 3 of 15: …". */
export function titleOf(step) {
  const [way, place, of] = isBack(step)
    ? ["Back", step - TURN + 1, LAST - TURN + 1]
    : ["Forward", step + 1, TURN];
  return `${way} ${place} of ${of}: ${STEPS[step].name}`;
}

/** Say what happens, and which gradients of weights fall out. */
export function say({ says, grads }) {
  const fall = grads.map(({ name, shape }) => `${name} ${shapeWords(shape)}`).join(", ");
  return fall ? `${says} Beside it falls out: ${fall}.` : says;
}

export const shapeWords = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** Write a number in its cell: two decimals, and −∞ where a score is masked. */
export function cellWords(x) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const size = Math.abs(x);
  if (size >= 999.5) return x.toExponential(0).replace("e+", "e").replace(/^-/, "−");
  const text = x.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  return text.replace(/^-(?=0\.00$)/, "").replace(/^-/, "−");
}

// What an array is called where its name in the state is not the one in the code, and its axes.
const NAMES = {
  normed1: "normed",
  normed2: "normed",
  q_turned: "q, turned",
  k_turned: "k, turned",
  dq_turned: "dq, turned",
  dk_turned: "dk, turned",
  dnormed1: "dnormed",
  dnormed2: "dnormed",
  dbranch1: "dbranch",
  dbranch2: "dbranch",
  from_gate: "through the gate",
  from_up: "through up",
  from_q: "through q",
  from_k: "through k",
  from_v: "through v",
};

export const nameOf = (array) => NAMES[array] ?? array;

const AXES = [
  [/^d?(q|q_turned|mixed)$/, "H, T, K"],
  [/^d?(k|v|k_turned)$/, "H_kv, T, K"],
  [/^d?(scores|weights)$/, "H, T, T"],
  [/^d?(gate|up|hidden)$/, "T, h"],
  [/^merged$/, "T, H·K"],
  [/^dW_q$/, "d, H·K"],
  [/^dW_[kv]$/, "d, H_kv·K"],
  [/^dW_o$/, "H·K, d"],
  [/^dW_(gate|up)$/, "d, h"],
  [/^dW_down$/, "h, d"],
  [/^d\w+_norm$/, "d"],
];

/** The axes of an array by their letters. */
export const axesOf = (array) => AXES.find(([names]) => names.test(array))?.[1] ?? "T, d";
