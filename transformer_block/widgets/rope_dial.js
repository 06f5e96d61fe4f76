// RoPE dial: pairs as hands of clocks, and a score that knows the distance alone.

import {
  brief,
  button,
  clamp,
  fixed,
  html,
  logSlider,
  picture,
  sayLag,
  slider,
  sliders,
  spokenText,
} from "./common.js";
import { living } from "./living.js";
import { clockPanel } from "./rope_dial_clocks.js";
import { FARTHEST, SHIFTS, look, sayHands, sayScore, stamp } from "./rope_dial_numbers.js";
import { scorePanel } from "./rope_dial_score.js";
import { tableOnDemand } from "./tables.js";

const MOVED = ["query", "key", "query_at", "key_at", "shift", "pairing", "rope_base"];

export default living({ moved: MOVED, sent: ["yours"] }, build);

function build(life, hands) {
  const { now, change, reset } = hands;
  const place = (name, trait, max) =>
    slider(life, name, { min: 0, max, step: 1 }, (x) => change({ [trait]: x }));
  const query = place("Query at m", "query_at", FARTHEST);
  const key = place("Key at n", "key_at", FARTHEST);
  const shift = place("Move both on by", "shift", SHIFTS);
  const base = logSlider(life, "Base", [1, 6], (rope_base) => change({ rope_base }));
  const panels = [clockPanel, scorePanel].map((panel) => panel(life, hands));
  const [handWords, scoreWords, yourWords] = [1, 2, 3].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const onward = () => change({ shift: clamp(now().shift + 1, 0, SHIFTS) });
  const buttons = [
    button(life, "Both one step on", onward),
    button(life, "Make the key equal the query", () => change({ key: now().query })),
    button(life, "Reset", reset),
  ];
  return {
    node: picture(
      [panels[0].node, handWords.node],
      [
        panels[1].node,
        sliders(query, key, shift, base),
        html("div", { class: "tb-buttons" }, ...buttons),
        scoreWords.node,
        yourWords.node,
      ],
      numbers.node,
    ),
    show(state) {
      const seen = look(state);
      query.show(seen.query_at);
      key.show(seen.key_at);
      shift.show(seen.shift);
      base.show(seen.base);
      for (const panel of panels) panel.show(seen);
      handWords.say(sayHands(seen));
      scoreWords.say(sayScore(seen));
      yourWords.say(sayYours(seen));
      numbers.show(() => [featureTable(seen)]);
    },
  };
}

function sayYours(seen) {
  const { yours, pairing } = seen;
  return sayLag(yours, [...stamp(seen), pairing], [...(yours?.at ?? []), yours?.pairing]);
}

function featureTable({ m, n, query, key, turned, score }) {
  const product = (i) => turned.query[i] * turned.key[i];
  const row = (x, i) => [
    String(i),
    ...[x, key[i], turned.query[i], turned.key[i], product(i)].map((v) => fixed(v)),
  ];
  return {
    caption: `Query at ${brief(m)}, key at ${brief(n)}: the products add up to ${fixed(score)}`,
    columns: ["no.", "query", "key", "q turned", "k turned", "product"],
    rows: query.map(row),
  };
}
