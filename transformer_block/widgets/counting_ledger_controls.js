// The hands of the counting ledger: a slider for a number, a box for yes or no.

import { html, update } from "./common.js";
import { full } from "./counting_ledger_numbers.js";

/** A slider from `min` to `max`; `read` and `write` turn its place into the number and back. */
export function numberSlider(life, name, { min, max, step = 1, read = Number, write = Number }, change) {
  // JupyterLab would take the arrow keys for its cells.
  const keys = { "data-lm-suppress-shortcuts": "true" };
  const input = html("input", { type: "range", min, max, step, ...keys });
  const value = html("span", { class: "tb-value", "aria-hidden": "true" });
  life.listen(input, "input", () => change(read(Number(input.value))));
  return {
    node: html("label", { class: "tb-slider" }, html("span", {}, name), value, input),
    show(number) {
      const place = String(write(number));
      if (input.value !== place) input.value = place;
      update(input, "aria-valuetext", full(number));
      if (value.textContent !== full(number)) value.textContent = full(number);
    },
  };
}

/** A box to tick. */
export function tick(life, name, change) {
  const input = html("input", { type: "checkbox" });
  life.listen(input, "change", () => change(Number(input.checked)));
  return {
    node: html("label", { class: "tb-check" }, input, name),
    show(on) {
      input.checked = Boolean(on);
    },
  };
}
