// The numbers and the words of the counting ledger. The formulas are those of
// transformer_block/counting.py and flops.py; a test holds the two together.

import { brief, fixed } from "./common.js";

/** The numbers of a model, in the order in which a preset lists them. */
export const KEYS = [
  "d_model",
  "n_layers",
  "n_heads",
  "n_kv_heads",
  "head_dim",
  "d_ff",
  "mlp_matrices",
  "vocab_rows",
  "learned_positions",
  "tied_embeddings",
  "qkv_bias",
  "attn_out_bias",
  "mlp_bias",
  "lm_head_bias",
  "norms_per_layer",
  "norm_params_per_norm",
  "qk_norm_params_per_layer",
];

export const shapeOf = (numbers) => Object.fromEntries(KEYS.map((key, i) => [key, numbers[i]]));

export const sum = (parts) => Object.values(parts).reduce((total, part) => total + part, 0);

/** Count every parameter of a model of one net a layer, by the part it belongs to. */
export function countParameters(m) {
  const { d_model: d, n_layers: L, vocab_rows: V, head_dim: K } = m;
  const query = m.n_heads * K;
  const key = m.n_kv_heads * K;
  const attention = 2 * d * (query + key);
  const attentionBiases = m.qkv_bias * (query + 2 * key) + m.attn_out_bias * d;
  const netBiases = m.mlp_bias * ((m.mlp_matrices - 1) * m.d_ff + d);
  const norms = m.norms_per_layer * m.norm_params_per_norm + m.qk_norm_params_per_layer;
  return {
    embedding: V * d,
    positions: m.learned_positions * d,
    attention: L * attention,
    net: L * m.mlp_matrices * d * m.d_ff,
    "norms and biases":
      L * (attentionBiases + netBiases + norms) + m.norm_params_per_norm + m.lm_head_bias * V,
    head: m.tied_embeddings ? 0 : V * d,
  };
}

/** Count the FLOPs of one token of training: three forward passes, all T keys for each query. */
export function tokenFlops(m, T) {
  const { attention, net } = countParameters(m);
  return {
    "attention’s matrices": 6 * attention,
    net: 6 * net,
    head: 6 * m.vocab_rows * m.d_model,
    "scores and mixing": 12 * T * m.n_layers * m.n_heads * m.head_dim,
  };
}

/** The context at which scores and mixing cost as much as all matrices. */
export function balanceLength(m) {
  const { "scores and mixing": perKey, ...dense } = tokenFlops(m, 1);
  return sum(dense) / perKey;
}

/** Change one number of a model, and with it what hangs on it. */
export function reshaped(m, key, value) {
  const next = { ...m, [key]: value };
  if (key === "d_model") {
    next.norm_params_per_norm = (m.norm_params_per_norm / m.d_model) * value;
  }
  if (key === "d_model" || key === "n_heads") {
    next.head_dim = Math.max(1, Math.round(next.d_model / next.n_heads));
  }
  next.n_kv_heads = divisorNear(next.n_heads, next.n_kv_heads, m.n_kv_heads);
  return next;
}

/** The divisor of n that is nearest to a number, on that side of `from` to which it was moved. */
export function divisorNear(n, wanted, from = wanted) {
  const side = Math.sign(wanted - from);
  const divisors = Array.from({ length: n }, (_, i) => i + 1).filter((k) => n % k === 0);
  const ahead = divisors.filter((k) => Math.sign(k - from) === side);
  return (ahead.length && side ? ahead : divisors).reduce((best, k) =>
    Math.abs(k - wanted) < Math.abs(best - wanted) ? k : best,
  );
}

/** Work out all that the picture shows from what the model holds. */
export function look({ shape, T, presets }) {
  const parts = countParameters(shape);
  const flops = tokenFlops(shape, T);
  const { d_model: d, n_layers: L } = shape;
  const block = { attention: parts.attention / L, net: parts.net / L };
  const same = (numbers) => KEYS.every((key, i) => Number(shape[key]) === numbers[i]);
  return {
    shape,
    T,
    parts,
    total: sum(parts),
    block,
    marks: { "12 d²": 12 * d * d, "16 d²": 16 * d * d },
    flops,
    exact: sum(flops),
    sixN: 6 * sum(parts),
    balance: balanceLength(shape),
    preset: Object.keys(presets).find((name) => same(presets[name])) ?? "",
  };
}

/** Write a whole number in full: 6,738,415,616. */
export const full = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

const UNITS = { "": 1, k: 1e3, M: 1e6, B: 1e9, T: 1e12 };

/** Write a number as people say it, with three digits: 6.74 B. */
export function inWords(n) {
  const [unit, size] = Object.entries(UNITS).findLast(([, size]) => n >= size) ?? ["", 1];
  return `${fixed(n / size)} ${unit}`.trim();
}

/** Write the numbers of a block in units of d². */
export const squares = (n, { d_model: d }) => `${brief(n / d ** 2)} d²`;

const unbroken = (words) => words.replaceAll(" ", "\u00a0");

/** Say above a chart what it shows; a number keeps its unit beside it. */
export function titleOfModel({ parts, total }) {
  const [most, number] = Object.entries(parts).reduce((a, b) => (b[1] > a[1] ? b : a));
  const [all, share] = [inWords(total), percent(number / total)].map(unbroken);
  return `${all} parameters, ${share} of them in the ${most}`;
}

export const titleOfBlock = ({ block, shape }) => `One block is ${unbroken(squares(sum(block), shape))}`;

export const titleOfToken = ({ exact, sixN }) =>
  `One token of training costs ${brief(exact / sixN)} times 6N`;

/** Say in a sentence what the parameters are. */
export function sayParameters({ shape, total, block, parts, preset }) {
  const name = preset || "This model";
  const tables = (parts.embedding + parts.positions + parts.head) / total;
  return (
    `${name} has ${full(total)} parameters. The matrices of one block are ` +
    `${squares(sum(block), shape)}; embedding, positions and head are ` +
    `${percent(tables)} of the model.`
  );
}

/** Say in a sentence what one token costs. */
export function sayFlops({ T, exact, sixN, flops, balance }) {
  return (
    `A token of training costs ${inWords(exact)} FLOPs at T = ${full(T)}, ` +
    `${brief(exact / sixN)} times 6N. Scores and mixing are ` +
    `${percent(flops["scores and mixing"] / exact)} of it; they reach one half at ` +
    `T = ${full(Math.round(balance))}.`
  );
}

export const percent = (share) => `${brief(100 * share, 2)} %`;
