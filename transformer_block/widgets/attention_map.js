// Attention map: every weight of every head of a real model, row by row and head by head.

import {
  button,
  choice,
  html,
  picture,
  slider,
  sliders,
  spokenText,
} from "./common.js";
import { headPanel } from "./attention_map_heads.js";
import { habitsOf, inHundredths, look, meanOver, sayPair, strongest } from "./attention_map_numbers.js";
import { rowPanel } from "./attention_map_row.js";
import { living } from "./living.js";
import { tokenText, tokenWords } from "./maps.js";
import { tableOnDemand } from "./tables.js";

const HABITS = {
  before: "A head that looks one back",
  first: "One that rests on the first",
  followers: "One that finds what came next",
};

export default living(
  { moved: ["text", "layer", "head", "query", "key"], sent: ["texts", "size", "weights"] },
  build,
);

function build(life, hands) {
  const { now, change, reset } = hands;
  let seen = look(now());
  const whole = (name, words, to) =>
    slider(life, name, { min: 0, max: 1, step: 1, words }, (x) => change(to(x)));
  const token = (i) => tokenWords(seen.tokens)(i);
  const moves = {
    layer: whole("Block", String, (layer) => ({ layer })),
    head: whole("Head", String, (head) => ({ head })),
    query: whole("Query", token, (query) => ({ query })),
    key: whole("Key", token, (key) => ({ key })),
  };
  const texts = textChoice(life, hands);
  const panels = [rowPanel, headPanel].map((part) => part(life, hands));
  const words = spokenText(life);
  const numbers = tableOnDemand(life, "The numbers");
  const pairButton = button(life, "Strongest head for this pair", () =>
    change(strongest(seen, (layer, head) => seen.pair[layer][head])),
  );
  const habits = Object.entries(HABITS).map(([name, title]) => [
    name,
    button(life, title, () => change(strongest(seen, meanOver(seen, habitsOf(seen.tokens)[name])))),
  ]);
  return {
    node: picture(
      [texts.node, panels[0].node, sliders(...Object.values(moves))],
      [
        panels[1].node,
        html(
          "div",
          { class: "tb-buttons" },
          pairButton,
          ...habits.map(([, node]) => node),
          button(life, "Reset", reset),
        ),
        words.node,
      ],
      numbers.node,
    ),
    show(state) {
      seen = look(state);
      const ends = { layer: seen.layers, head: seen.heads, query: seen.tokens.length };
      for (const [name, move] of Object.entries(moves))
        move.show(seen[name], name === "key" ? seen.query : ends[name] - 1);
      texts.show(seen);
      const pairs = habitsOf(seen.tokens);
      for (const [name, node] of habits) node.hidden = pairs[name].length === 0;
      for (const part of panels) part.show(seen);
      words.say(sayPair(seen));
      numbers.show(() => [table(seen)]);
    },
  };
}

/** The texts to choose from, where there are several; a new one is entered at its last token. */
function textChoice(life, { now, change }) {
  const { texts } = now();
  const names = Object.fromEntries(texts.map(({ name, title }) => [name, title]));
  const enter = (text) => {
    const last = texts.find(({ name }) => name === text).tokens.length - 1;
    change({ text, query: last, key: Math.max(0, last - 1) });
  };
  const picker = choice(life, "The text", names, enter);
  const sentence = html("p", { class: "tb-sentence" });
  const node = texts.length > 1 ? [picker.node, sentence] : [sentence];
  return {
    node: html("div", {}, ...node),
    show({ text, tokens, query, key }) {
      picker.show(text);
      sentence.replaceChildren(
        ...tokens.map((token, i) =>
          html("span", { class: i === query ? "tb-query" : i === key ? "tb-at-key" : "" }, token),
        ),
      );
    },
  };
}

function table({ layer, head, tokens, query, row, key, pair }) {
  return {
    caption: `Block ${layer}, head ${head}: the row of ${tokenWords(tokens)(query)}`,
    columns: ["key", "weight here", "largest of all heads"],
    rows: row.map((weight, i) => [
      `${i}: ${tokenText(tokens[i])}`,
      inHundredths(weight),
      i === key ? inHundredths(Math.max(...pair.flat())) : "",
    ]),
  };
}
