// The numbers and the words of the gate map. The curve is that of transformer_block/swiglu.py.

import { clamp, fixed } from "./common.js";
import { tokenText } from "./maps.js";
import { unpacked } from "./packed.js";

export const CLOSED = 0.1; // a gate that lets less than this share of up through is nearly closed

export const silu = (x) => x / (1 + Math.exp(-x));

/** What can be shown of a hidden unit. */
export const KINDS = {
  gate: { name: "gate", of: (gate) => gate },
  open: { name: "SiLU(gate)", of: (gate) => silu(gate) },
  up: { name: "up", of: (gate, up) => up },
  hidden: { name: "product", of: (gate, up) => silu(gate) * up },
};

const kept = new WeakMap();

/** Read the bytes of gates and ups once. */
function opened({ data, arrays }) {
  if (!kept.has(data)) kept.set(data, unpacked(arrays, data, 0));
  return kept.get(data);
}

/** Work out all that the picture shows. */
export function look(state) {
  const { gate, up } = opened(state);
  const { blocks, tokens, h } = state;
  const T = tokens.length;
  const which = clamp(state.which, 0, blocks.length - 1);
  const token = clamp(state.token, 0, T - 1);
  const unit = clamp(state.unit, 0, h - 1);
  const at = (t, k) => (which * T + t) * h + k;
  const value = (kind, t, k) => KINDS[kind].of(gate[at(t, k)], up[at(t, k)]);
  const closed = tokens.map((_, t) => closedShare(gate.subarray(at(t, 0), at(t, h))));
  const order = state.sorted ? sortedBy(gate.subarray(at(token, 0), at(token, h))) : null;
  const place = order ? order.indexOf(unit) : unit;
  return { ...state, which, block: blocks[which], token, unit, value, closed, order, place };
}

/** The share of gates that let less than a tenth through. */
export function closedShare(gates) {
  return gates.reduce((count, gate) => count + (Math.abs(silu(gate)) < CLOSED), 0) / gates.length;
}

/** The units in the order of a token's gates, the widest open first. */
export const sortedBy = (gates) =>
  Array.from(gates, (_, k) => k).sort((a, b) => gates[b] - gates[a] || a - b);

export const unitAt = ({ order }, place) => (order ? order[place] : place);

/** The size that fills a cell: all but one in two hundred are below it. */
export function fullSize({ value, tokens, h }, kind) {
  const sizes = tokens.flatMap((_, t) =>
    Array.from({ length: h }, (_, k) => Math.abs(value(kind, t, k))),
  );
  return sizes.sort((a, b) => a - b)[Math.floor(0.995 * (sizes.length - 1))] || 1;
}

export const percent = (share) => `${(100 * share).toFixed(0)} %`;

/** One unit of one token in four numbers. */
export function sayUnit({ value, tokens }, token, unit) {
  const [gate, open, up, hidden] = Object.keys(KINDS).map((kind) =>
    fixed(value(kind, token, unit), 2),
  );
  return `${tokenText(tokens[token])}, unit ${unit}: gate ${gate}, opens to ${open}; up ${up}; product ${hidden}`;
}

/** Say what the chosen cell is, and how many gates are nearly closed. */
export function sayAll(now) {
  const { block, token, tokens, closed } = now;
  const all = closed.reduce((sum, share) => sum + share, 0) / closed.length;
  return (
    `Block ${block}, token ${token}: ${sayUnit(now, token, now.unit)}. ` +
    `Of the gates of “${tokenText(tokens[token])}” ${percent(closed[token])} are nearly closed: they let ` +
    `less than a tenth of up through. Of all tokens it is ${percent(all)}.`
  );
}
