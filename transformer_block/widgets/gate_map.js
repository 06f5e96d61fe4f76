// Gate map: the gates of a real model, token by token and unit by unit.

import { button, choice, fixed, html, picture, slider, sliders, spokenText } from "./common.js";
import { closedPanel } from "./gate_map_closed.js";
import { mapPanels } from "./gate_map_maps.js";
import { KINDS, look, percent, sayAll, unitAt } from "./gate_map_numbers.js";
import { living } from "./living.js";
import { tokenText, tokenWords } from "./maps.js";
import { tableOnDemand } from "./tables.js";

export default living(
  {
    moved: ["which", "token", "unit", "shown", "sorted"],
    sent: ["blocks", "tokens", "h", "arrays", "data"],
  },
  build,
);

function build(life, hands) {
  const { now, change, reset } = hands;
  let seen = look(now());
  const range = (words) => ({ min: 0, max: 1, step: 1, words });
  const moves = {
    which: slider(life, "Block", range((i) => String(seen.blocks[i])), (which) => change({ which })),
    token: slider(life, "Token", range((i) => tokenWords(seen.tokens)(i)), (token) => change({ token })),
    place: slider(life, "Unit", range((place) => String(unitAt(seen, place))), (place) =>
      change({ unit: unitAt(seen, place) }),
    ),
  };
  const orders = { model: "as in the model", token: "widest open first, for this token" };
  const order = choice(life, "The order of the units", orders, (by) => change({ sorted: by === "token" }));
  const maps = mapPanels(life, hands);
  const closed = closedPanel(life, hands);
  const words = spokenText(life);
  const numbers = tableOnDemand(life, "The numbers");
  return {
    node: picture(
      [maps.nodes[0], order.node, sliders(...Object.values(moves))],
      [
        maps.nodes[1],
        closed.node,
        html("div", { class: "tb-buttons" }, button(life, "Reset", reset)),
        words.node,
      ],
      numbers.node,
    ),
    show(state) {
      seen = look(state);
      const ends = { which: seen.blocks.length, token: seen.tokens.length, place: seen.h };
      for (const [name, move] of Object.entries(moves)) move.show(seen[name], ends[name] - 1);
      order.show(seen.sorted ? "token" : "model");
      maps.show(seen);
      closed.show(seen);
      words.say(sayAll(seen));
      numbers.show(() => tables(seen));
    },
  };
}

function tables({ block, unit, h, tokens, value, closed }) {
  const named = (cells) => tokens.map((token, t) => [`${t}: ${tokenText(token)}`, ...cells(t)]);
  return [
    {
      caption: `Block ${block}, unit ${unit}`,
      columns: ["token", "gate", "opens to", "up", "product"],
      rows: named((t) => Object.keys(KINDS).map((kind) => fixed(value(kind, t, unit)))),
    },
    {
      caption: `Block ${block}, gates nearly closed of ${h}`,
      columns: ["token", "share"],
      rows: named((t) => [percent(closed[t])]),
    },
  ];
}
