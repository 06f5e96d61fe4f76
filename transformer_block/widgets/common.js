// What all living pictures share: elements, numbers as text, controls, and an end.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element: `html("p", { class: "tb-note" }, "text", child)`. */
export function html(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** Make an SVG element in the same way. */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Set an attribute only where it changes something: a page lays out anew for every one. */
export function update(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Set the words of a node that holds nothing else, only where they change, and keep its text node. */
export function write(node, words) {
  if (!node.firstChild) node.append(words);
  else if (node.firstChild.data !== words) node.firstChild.data = words;
}

/** Show these nodes in a place: what stands there already is kept, and only what differs is set. */
export function refill(place, ...fresh) {
  while (place.childNodes.length > fresh.length) place.lastChild.remove();
  fresh.forEach((wanted, i) => {
    const found = place.childNodes[i];
    if (!found) place.append(wanted);
    else if (found.nodeName !== wanted.nodeName) found.replaceWith(wanted);
    else if (found.nodeType === 3) found.data === wanted.data || (found.data = wanted.data);
    else {
      for (const { name, value } of wanted.attributes) update(found, name, value);
      refill(found, ...wanted.childNodes);
    }
  });
}

/** Write a number with so many significant digits, as Python would: 0.302, 1.50, 3.16e-6. */
export function fixed(x, digits = 3) {
  if (!Number.isFinite(x)) return "NaN";
  if (x === 0) return "0";
  const rounded = Number(x.toPrecision(digits));
  const power = Math.floor(Math.log10(Math.abs(rounded)));
  const text =
    power < -3 || power > 4
      ? rounded.toExponential(digits - 1).replace("e+", "e")
      : rounded.toFixed(Math.max(0, digits - 1 - power));
  return text.replace(/^-/, "−");
}

/** Write a number without the zeros that say nothing: 0.001, 2, 1e-5. */
export function brief(x, digits = 3) {
  return fixed(x, digits)
    .replace(/(\.\d*?)0+(?=e|$)/, "$1")
    .replace(/\.(?=e|$)/, "");
}

export function clamp(x, low, high) {
  return Math.min(high, Math.max(low, x));
}

/** Everything that a view has to undo when it goes, and `end()`, which undoes it. */
export function lifetime(model) {
  const listeners = new AbortController();
  const undo = [() => listeners.abort()];
  return {
    listen(target, type, handler) {
      target.addEventListener(type, handler, { signal: listeners.signal });
    },
    watch(names, handler) {
      for (const name of names) {
        model.on(`change:${name}`, handler);
        undo.push(() => model.off(`change:${name}`, handler));
      }
    },
    /** A function that tells a node's width without asking the page, which would be slow. */
    widthOf(node, changed) {
      let width = node.clientWidth;
      const observer = new ResizeObserver(([entry]) => {
        if (entry.contentRect.width === width) return;
        width = entry.contentRect.width;
        changed();
      });
      observer.observe(node);
      undo.push(() => observer.disconnect());
      return () => (width ? Math.max(width, 240) : 640); // a guess while it is on no page
    },
    /** Wrap a function so that many calls make one run in the next frame. */
    oncePerFrame(run) {
      let frame = 0;
      undo.push(() => cancelAnimationFrame(frame));
      return () => {
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          run();
        });
      };
    },
    /** Wrap a function so that it runs when the calls have paused. */
    afterPause(run, milliseconds) {
      let timer;
      undo.push(() => clearTimeout(timer));
      return (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => run(...values), milliseconds);
      };
    },
    /** Note what else has to be undone at the end. */
    undo: (step) => undo.push(step),
    end() {
      undo.forEach((step) => step());
    },
  };
}

/** A paragraph that a screen reader speaks when it changes; it waits until the hand rests. */
export function spokenText(life) {
  const node = html("p", { class: "tb-spoken", "aria-live": "polite" });
  const writeLater = life.afterPause((text) => write(node, text), 350);
  return { node, say: (text) => (node.textContent ? writeLater(text) : write(node, text)) };
}

/** Keep two digits, so that the number that is read is the number that is used. */
export const twoDigits = (x) => Number(x.toPrecision(2));

/**
 * A named slider. `at(x)` is where a value stands on it, `from(place)` the value of a place; `show(x)`
 * puts it at a value, and may move its end, `change(x)` hears a hand.
 */
export function slider(life, name, range, change) {
  const { min, max, step, at = Number, from = Number, words = brief } = range;
  // JupyterLab would take the arrow keys for its cells.
  const keys = { "data-lm-suppress-shortcuts": "true" };
  const input = html("input", { type: "range", min, max, step, ...keys });
  const value = html("span", { class: "tb-value", "aria-hidden": "true" });
  life.listen(input, "input", () => change(from(Number(input.value))));
  return {
    node: html("label", { class: "tb-slider" }, html("span", {}, name), value, input),
    show(x, most = input.max) {
      update(input, "max", most);
      input.value = clamp(at(x), Number(input.min), Number(input.max));
      update(input, "aria-valuetext", words(x));
      write(value, words(x));
    },
  };
}

/** A slider over powers of ten, tenth by tenth. */
export function logSlider(life, name, [min, max], change) {
  const range = { min, max, step: 0.1, at: Math.log10, from: (power) => twoDigits(10 ** power) };
  return slider(life, name, range, change);
}

/** Sliders beside each other, or one under the other where it is narrow. */
export const sliders = (...list) =>
  html("div", { class: "tb-sliders" }, ...list.map(({ node }) => node));

/** One of several: `options` gives each value its name; native radio buttons, so keys come along. */
export function choice(life, name, options, change) {
  const inputs = Object.keys(options).map((value) =>
    html("input", { type: "radio", name: "choice", value, "data-lm-suppress-shortcuts": "true" }),
  );
  const labels = Object.values(options).map((words, i) =>
    html("label", { class: "tb-option" }, inputs[i], html("span", {}, ...[words].flat())),
  );
  const group = html(
    "div",
    { class: "tb-choice", role: "radiogroup", "aria-label": name },
    ...labels,
  );
  // A form of its own keeps the buttons apart from another picture's, with no name to invent.
  const node = html("form", {}, group);
  life.listen(node, "change", ({ target }) => change(target.value));
  life.listen(node, "submit", (event) => event.preventDefault());
  return {
    node,
    show(value) {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}

/** A push button. */
export function button(life, text, press) {
  const node = html("button", { type: "button", class: "tb-button" }, text);
  life.listen(node, "click", press);
  return node;
}

/** The whole: two columns of parts, one above the other where it is narrow, and a foot. */
export function picture(left, right, foot) {
  const column = (parts) => html("div", { class: "tb-column" }, ...parts);
  const layout = html("div", { class: "tb-layout" }, column(left), column(right), foot);
  return html("div", { class: "tb-picture" }, layout);
}

/** A titled panel of a picture; not a <figure>, which hosts dress in their own ways. */
export function panel(title, subtitle, ...children) {
  const name = html("div", { class: "tb-title" }, title);
  const line = html("div", { class: "tb-subtitle" }, subtitle);
  const head = html("div", {}, name, line);
  return html("div", { class: "tb-panel", role: "group", "aria-label": title }, head, ...children);
}

/** JSON has no NaN: Python sends null for a number that is not finite. */
export const numbersOf = (row) => row?.map((x) => x ?? NaN);

/** Say what became of the learner's function: it stopped, or was run elsewhere than `here`. */
export function sayLag(yours, here, there) {
  if (!yours || yours.message) return yours?.message ?? "";
  const current = here.length === there.length && here.every((x, i) => x === there[i]);
  return current
    ? ""
    : `${yours.name} is drawn where it was last run: it follows only while Python runs.`;
}

/** Bytes from Python as numbers of a kind; they may begin anywhere in their buffer. */
export function numbersFrom(view, Kind) {
  return new Kind(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}
