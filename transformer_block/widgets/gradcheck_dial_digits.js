// Panel 2 of the gradient-check dial: the two losses digit by digit, and what is left of them.

import { keyItem } from "./charts.js";
import { brief, fixed, html, panel, refill } from "./common.js";
import { digitsOf } from "./gradcheck_dial_numbers.js";

/** Build the panel. */
export function digitPanel() {
  const body = html("div", { class: "tb-digits" });
  const key = html(
    "div",
    { class: "tb-key" },
    keyItem("line", "tb-line tb-float64", "float64"),
    keyItem("line", "tb-line tb-float32", "float32"),
    keyItem("line", "tb-line tb-truncation", "truncation", "∝ step²"),
    keyItem("line", "tb-line tb-roundoff", "round-off", "∝ 1 / step"),
  );
  return {
    key,
    node: panel(
      "What the difference is made of",
      "The loss a step above and a step below: the digits they share are lost",
      body,
    ),
    show: ({ series, step, reach, slope }) =>
      refill(body, ...series.map((one) => block(one, 2 * step * reach, slope))),
  };
}

function block(one, distance, slope) {
  const { same, above, below } = digitsOf(one);
  const line = (name, rest) =>
    html(
      "div",
      {},
      html("span", { class: "tb-note" }, name),
      html(
        "span",
        { class: "tb-number" },
        html("span", { class: "tb-shared" }, same),
        html("b", {}, rest),
      ),
    );
  const difference = one.above - one.below;
  return html(
    "div",
    { class: "tb-digit-block" },
    html("span", { class: `tb-name tb-${one.dtype}` }, one.dtype),
    line("above", above),
    line("below", below),
    html(
      "div",
      {},
      html("span", { class: "tb-note" }, "their slope"),
      html(
        "span",
        { class: "tb-number" },
        html("b", {}, fixed(difference / distance, 6)),
        html("span", { class: "tb-note" }, ` right: ${brief(slope, 6)}`),
      ),
    ),
  );
}
