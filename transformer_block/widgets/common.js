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
    end() {
      undo.forEach((step) => step());
    },
  };
}

/** A paragraph that a screen reader speaks when it changes; it waits until the hand rests. */
export function spokenText(life) {
  const node = html("p", { class: "tb-spoken", "aria-live": "polite" });
  const write = (text) => node.textContent === text || node.replaceChildren(text);
  const writeLater = life.afterPause(write, 350);
  return { node, say: (text) => (node.textContent ? writeLater(text) : write(text)) };
}

/** Keep two digits, so that the number that is read is the number that is used. */
export const twoDigits = (x) => Number(x.toPrecision(2));

/** A slider over powers of ten, tenth by tenth; `show(x)` puts it at a value, `change(x)` hears. */
export function logSlider(life, name, [from, to], change) {
  // JupyterLab would take the arrow keys for its cells.
  const keys = { "data-lm-suppress-shortcuts": "true" };
  const input = html("input", { type: "range", min: from, max: to, step: 0.1, ...keys });
  const value = html("span", { class: "tb-value", "aria-hidden": "true" });
  life.listen(input, "input", () => change(twoDigits(10 ** Number(input.value))));
  return {
    node: html("label", { class: "tb-slider" }, html("span", {}, name), value, input),
    show(x) {
      input.value = clamp(Math.log10(x), from, to);
      update(input, "aria-valuetext", brief(x));
      if (value.textContent !== brief(x)) value.textContent = brief(x);
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

/**
 * Tables that open on demand. `show(list)` is given a function that lists them, each as
 * `{ caption, columns, rows }`, where the first cell of a row names it; it runs while they are open.
 */
export function tableOnDemand(life, summary) {
  const body = html("div", { class: "tb-tables" });
  const node = html("details", { class: "tb-details" }, html("summary", {}, summary), body);
  let list = () => [];
  const refresh = () => node.open && body.replaceChildren(...list().map(table));
  life.listen(node, "toggle", refresh);
  return {
    node,
    show(latest) {
      list = latest;
      refresh();
    },
  };
}

function table({ caption, columns, rows }) {
  const head = html("tr", {}, ...columns.map((name) => html("th", { scope: "col" }, name)));
  const line = ([name, ...cells]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      ...cells.map((cell) => html("td", {}, cell)),
    );
  return html(
    "table",
    {},
    html("caption", {}, caption),
    html("thead", {}, head),
    html("tbody", {}, ...rows.map(line)),
  );
}
