// What makes a picture a widget: its traits, its frames, its end, and the room that it takes on a page.

import { html, lifetime } from "./common.js";

/**
 * A widget. `moved` names the traits that hands move, and that "Reset" takes back; `sent` those that
 * come from Python alone. `build(life, hands)` gives `{ node, show(state) }`: of the hands, `now()`
 * is the state, which may be ahead of what is drawn, `change(values)` sets some of it, `reset()` all,
 * and `settle()` draws anew.
 */
export function living({ moved, sent = [] }, build) {
  const take = (model, names) => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  return () => {
    let start; // what the model held first
    return {
      initialize({ model }) {
        start = take(model, moved);
      },
      render({ model, el }) {
        const life = lifetime(model);
        const hands = {
          now: () => take(model, [...moved, ...sent]),
          change(values) {
            for (const [name, value] of Object.entries(values)) model.set(name, value);
            model.save_changes();
          },
          reset: () => hands.change(start),
          settle: life.oncePerFrame(() => show(hands.now())),
        };
        const { node, show } = build(life, hands);
        const block = room(life, node);
        el.append(block);
        show(hands.now());
        life.watch([...moved, ...sent], hands.settle);
        return () => {
          life.end();
          block.remove();
        };
      },
    };
  };
}

/**
 * A block that is as high as its picture, in pixels: a browser lays out such a block alone. Without
 * it every move asks the whole page where it stands, which is half of all that a move costs.
 */
function room(life, node) {
  const block = html("div", { class: "tb-room" }, node);
  const observer = new ResizeObserver(([{ borderBoxSize }]) => {
    block.style.height = `${borderBoxSize[0].blockSize}px`;
    block.classList.add("tb-measured");
  });
  observer.observe(node);
  life.undo(() => observer.disconnect());
  return block;
}
