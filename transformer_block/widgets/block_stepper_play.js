// The hands of the block stepper: first, back, play or pause, on, last, and the arrow keys.

import { button, clamp, html, update } from "./common.js";
import { LAST } from "./block_stepper_steps.js";

const BEAT = 2200; // milliseconds, time to read a sentence
const KEYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -LAST, End: LAST };

/** Build the row of buttons; `move(step)` is called with where a hand wants to go. */
export function player(life, { now, go }) {
  let beat = 0;
  const playing = () => beat !== 0;
  const by = (steps) => go(clamp(now().step + steps, 0, LAST));
  const pause = () => {
    clearInterval(beat);
    beat = 0;
    show(now());
  };
  const play = () => {
    if (now().step === LAST) go(0);
    beat = setInterval(() => {
      by(1);
      if (now().step === LAST) pause();
    }, BEAT);
    show(now());
  };
  const hand = (steps) => () => {
    pause();
    by(steps);
  };
  const [first, back, toggle, on, last] = [
    button(life, "First", hand(-LAST)),
    button(life, "Back", hand(-1)),
    button(life, "Play", () => (playing() ? pause() : play())),
    button(life, "Next", hand(1)),
    button(life, "Last", hand(LAST)),
  ];
  const node = html(
    "div",
    // JupyterLab would take the arrow keys for its cells.
    { class: "tb-buttons", role: "group", "aria-label": "Walk", "data-lm-suppress-shortcuts": "true" },
    first,
    back,
    toggle,
    on,
    last,
  );
  life.listen(node, "keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    hand(KEYS[event.key])();
  });
  life.undo(() => clearInterval(beat));

  /** A button at its end says so, and keeps the focus. */
  function show({ step }) {
    for (const one of [first, back]) update(one, "aria-disabled", step === 0);
    for (const one of [on, last]) update(one, "aria-disabled", step === LAST);
    const words = playing() ? "Pause" : "Play";
    if (toggle.textContent !== words) toggle.textContent = words;
    node.classList.toggle("tb-playing", playing());
  }
  return { node, show, pause };
}
