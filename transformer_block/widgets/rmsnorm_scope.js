// RMSNorm scope: what ε does to a small input, and RMSNorm beside LayerNorm.

import {
  brief,
  fixed,
  logSlider,
  picture,
  sliders,
  spokenText,
} from "./common.js";
import { living } from "./living.js";
import { SIZE_POWERS, epsPanel } from "./rmsnorm_scope_eps.js";
import {
  look,
  mean,
  outputRms,
  rms,
  sayEps,
  sayNorms,
  sayYours,
  seriesOf,
  tidy,
} from "./rmsnorm_scope_numbers.js";
import { vectorPanel } from "./rmsnorm_scope_vector.js";
import { tableOnDemand } from "./tables.js";

const EPS_POWERS = [-12, 0];

export default living({ moved: ["vector", "scale", "eps"], sent: ["yours"] }, build);

function build(life, hands) {
  const { change } = hands;
  const now = () => look(hands.now());
  const pushes = pushing(now, change);
  const scale = logSlider(life, "Input scale", SIZE_POWERS, (scale) => change({ scale }));
  const eps = logSlider(life, "ε", EPS_POWERS, (eps) => change({ eps }));
  const curves = epsPanel(life, { ...hands, now });
  const bars = vectorPanel(life, { ...hands, now, push: pushes.push });
  const [epsWords, normWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  return {
    node: picture(
      [curves.node, sliders(scale, eps), epsWords.node],
      [bars.node, normWords.node, yourWords.node],
      numbers.node,
    ),
    show(state) {
      const seen = look(state);
      const before = pushes.before(seen);
      scale.show(seen.scale);
      eps.show(seen.eps);
      curves.show(seen);
      bars.show(seen, before);
      epsWords.say(sayEps(seen));
      normWords.say(sayNorms(seen, before));
      yourWords.say(sayYours(seen));
      numbers.show(() => [epsTable(seen), featureTable(seen)]);
    },
  };
}

/** The buttons' doing, and what the last of them changed, until something else changes. */
function pushing(now, change) {
  let last = null;
  return {
    push({ done, to }) {
      const seen = now();
      const vector = to(seen.vector);
      const { vector: old } = seen;
      last = { done, vector: old, series: seriesOf(seen), stamp: stamp({ ...seen, vector }) };
      change({ vector });
    },
    before(seen) {
      if (last?.stamp !== stamp(seen)) last = null;
      return last;
    },
  };
}

const stamp = ({ vector, scale, eps }) => [scale, eps, ...vector].join();

function epsTable({ size, eps }) {
  const powers = Array.from({ length: SIZE_POWERS[1] - SIZE_POWERS[0] + 1 }, (_, i) => i);
  const sizes = [size, ...powers.map((i) => 10 ** (i + SIZE_POWERS[0]))];
  return {
    caption: `RMS of the output, ε = ${brief(eps)}`,
    columns: ["RMS of the input", "ε inside", "ε outside", "no ε"],
    rows: sizes.map((s, i) => [
      i ? brief(s) : `now: ${brief(s)}`,
      ...["inside", "outside", "absent"].map((form) => fixed(outputRms[form](s, eps))),
    ]),
  };
}

function featureTable(now) {
  const { rmsnorm, layernorm, ...yours } = seriesOf(now);
  const columns = { vector: now.vector, RMSNorm: rmsnorm, LayerNorm: layernorm, ...yours };
  const row = (name, pick) => [name, ...Object.values(columns).map((x) => fixed(pick(x)))];
  return {
    caption: `Each feature; the norms are given ${brief(now.scale)} × vector`,
    columns: ["feature", ...Object.keys(columns)],
    rows: [
      ...now.vector.map((_, i) => row(String(i + 1), (column) => column[i])),
      row("mean", (column) => tidy(mean(column), rms(column))),
      row("RMS", rms),
    ],
  };
}
