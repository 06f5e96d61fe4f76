// A stage for widget modules in Node: a small DOM, a model as anywidget gives it, and its frames.

import { Window } from "happy-dom";

const window = new Window();
const frames = new Map();
let number = 0;

Object.assign(globalThis, {
  document: window.document,
  Event: window.Event,
  ResizeObserver: class {
    static watching = 0;
    observe() {
      ResizeObserver.watching += 1;
    }
    disconnect() {
      ResizeObserver.watching -= 1;
    }
  },
  requestAnimationFrame(run) {
    number += 1;
    frames.set(number, run);
    return number;
  },
  cancelAnimationFrame: (frame) => frames.delete(frame),
});

/** Let the browser draw: run what waits for the next frame, and say how much that was. */
export function nextFrame() {
  const due = [...frames.values()];
  frames.clear();
  due.forEach((run) => run());
  return due.length;
}

/** A model that holds a state and tells its listeners what changes. */
export function fakeModel(state) {
  const listeners = [];
  return {
    state,
    listeners,
    saved: 0,
    get: (name) => state[name],
    set(name, value) {
      if (!(value instanceof DataView) && JSON.stringify(state[name]) === JSON.stringify(value))
        return;
      state[name] = value;
      listeners.filter(([event]) => event === `change:${name}`).forEach(([, run]) => run());
    },
    save_changes() {
      this.saved += 1;
    },
    on: (event, run) => listeners.push([event, run]),
    off(event, run) {
      const found = listeners.findIndex(([e, r]) => e === event && r === run);
      if (found >= 0) listeners.splice(found, 1);
    },
  };
}

/** A place on the page for one view. */
export function place() {
  return document.body.appendChild(document.createElement("div"));
}

/** Do to an input what a hand does: set its value, then say so. */
export function slide(input, value) {
  input.value = String(value);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Let go of an input. */
export function release(input) {
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** The text of every element that fits a selector. */
export function texts(root, selector) {
  return [...root.querySelectorAll(selector)].map((node) => node.textContent);
}

/** Show a widget: `shower(picture, state)` gives `show(changes, views)`, as anywidget makes them. */
export function shower(picture, state) {
  return (changes = {}, views = 1) => {
    const model = fakeModel({ ...structuredClone(state), ...changes });
    const widget = picture();
    widget.initialize({ model });
    const places = Array.from({ length: views }, place);
    const ends = places.map((el) => widget.render({ model, el }));
    return { model, el: places[0], places, ends };
  };
}

/** The slider with a name. */
export function sliderOf(el, name) {
  return [...el.querySelectorAll(".tb-slider")]
    .find((label) => label.firstChild.textContent === name)
    .querySelector("input");
}

/** Press the button with a name. */
export function press(el, name) {
  [...el.querySelectorAll("button")].find((button) => button.textContent === name).click();
}

/** The numbers in large type. */
export const tilesOf = (el) => texts(el, ".tb-tile strong");
