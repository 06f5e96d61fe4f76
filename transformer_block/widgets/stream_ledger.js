// Stream ledger: what attention and net write into the stream of a token, entry by entry.

import { button, choice, fixed, html, picture, slider, sliders, spokenText, write } from "./common.js";
import { remembered } from "./charts.js";
import { living } from "./living.js";
import { tokenText, tokenWords } from "./maps.js";
import { balancePanel, lensPanel } from "./stream_ledger_end.js";
import { mapPanel } from "./stream_ledger_map.js";
import { look } from "./stream_ledger_numbers.js";
import { rowsPanel } from "./stream_ledger_rows.js";
import { partName, partWords, percent, sayBalance, sayPlace } from "./stream_ledger_words.js";
import { tableOnDemand } from "./tables.js";

export default living(
  { moved: ["text", "token", "place", "off", "shown"], sent: ["runs", "data"] },
  build,
);

function build(life, hands) {
  const { now, change, reset } = hands;
  let seen = look(now());
  const toggle = (i) => {
    const off = now().off;
    if (seen.held >= 0)
      change({ off: off.includes(i) ? off.filter((j) => j !== i) : [...off, i].sort((a, b) => a - b) });
  };
  const range = (words) => ({ min: 0, max: 1, step: 1, words });
  const token = slider(life, "Token", range((i) => tokenWords(seen.tokens)(i)), (x) => change({ token: x }));
  const place = slider(life, "Entry", range(partName), (x) => change({ place: x }));
  const counted = tick(life, () => toggle(seen.place));
  const parts = [mapPanel(life, hands), rowsPanel(life, hands, toggle), lensPanel(life, hands), balancePanel(life, hands)];
  const texts = textChoice(life, hands);
  const [placeWords, balanceWords] = [1, 2].map(() => spokenText(life));
  const numbers = tableOnDemand(life, "The numbers");
  const every = (first) => () => {
    const off = [];
    for (let i = first; i < seen.run.places; i += 2) off.push(i);
    change({ off });
  };
  const buttons = [
    button(life, "Without attention", every(1)),
    button(life, "Without the nets", every(2)),
    button(life, "Count all", () => change({ off: [] })),
    button(life, "Reset", reset),
  ];
  return {
    node: picture(
      [
        texts.node,
        parts[0].node,
        sliders(token, place),
        counted.node,
        html("div", { class: "tb-buttons" }, ...buttons),
        placeWords.node,
      ],
      [parts[1].node, parts[2].node, parts[3].node, balanceWords.node],
      numbers.node,
    ),
    show(state) {
      seen = look(state);
      texts.show(seen);
      token.show(seen.token, seen.tokens.length - 1);
      place.show(seen.place, seen.run.places - 1);
      counted.show(seen);
      for (const button of buttons.slice(0, 3)) button.disabled = seen.held < 0;
      for (const part of parts) part.show(seen);
      placeWords.say(sayPlace(seen));
      balanceWords.say(sayBalance(seen));
      numbers.show(() => [table(seen)]);
    },
  };
}

/** The switch of the chosen entry: a native checkbox. */
function tick(life, flip) {
  const input = html("input", { type: "checkbox", "data-lm-suppress-shortcuts": "true" });
  const words = html("span", {});
  life.listen(input, "change", flip);
  return {
    node: html("label", { class: "tb-tick-box" }, input, words),
    show({ place, off, held }) {
      input.checked = !off.includes(place);
      input.disabled = held < 0;
      write(words, `Count ${partWords(place)}`);
    },
  };
}

/** The texts to choose from, where there are several; a new one is entered at its last token. */
function textChoice(life, { now, change }) {
  const { runs } = now();
  const names = Object.fromEntries(runs.map(({ name, title }) => [name, title]));
  const enter = (text) => {
    const { tokens, places } = runs.find(({ name }) => name === text);
    change({ text, token: tokens.length - 1, place: places - 1, off: [] });
  };
  const picker = choice(life, "The text", names, enter);
  const sentence = html("p", { class: "tb-sentence" });
  const fill = remembered((tokens) => sentence.replaceChildren(...tokens.map((one) => html("span", {}, one))));
  return {
    node: html("div", {}, ...(runs.length > 1 ? [picker.node, sentence] : [sentence])),
    show({ text, tokens, token }) {
      picker.show(text);
      fill(tokens);
      [...sentence.children].forEach((one, i) => one.classList.toggle("tb-query", i === token));
    },
  };
}

function table({ run, tokens, token, writes, sums, cosines, says, off }) {
  return {
    caption: `Token ${token}: ${tokenText(tokens[token])}`,
    columns: ["entry", "size", "cosine", "stream then", "would say"],
    rows: writes.map((write, i) => [
      off.includes(i) ? `${partName(i)}, not counted` : partName(i),
      fixed(write),
      Number.isNaN(cosines[i]) ? "" : fixed(cosines[i], 2),
      fixed(sums[i]),
      `${tokenText(says[i][0].text)} ${percent(says[i][0].share)}`,
    ]),
  };
}
