import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel, nextFrame, place, release, slide, texts } from "./stage.mjs";
import {
  chart,
  dragAlong,
  flagOf,
  label,
  linePath,
  linearScale,
  powerOfTen,
  redraw,
  remembered,
  roundUp,
  shape,
  ticks,
} from "../../transformer_block/widgets/charts.js";
import {
  brief,
  choice,
  fixed,
  html,
  lifetime,
  logSlider,
  numbersFrom,
  refill,
  spokenText,
  svg,
  write,
} from "../../transformer_block/widgets/common.js";
import { tableOnDemand } from "../../transformer_block/widgets/tables.js";

test("a number is written with its significant digits", () => {
  const numbers = [
    0.30151, 0.98999, 1, 0, -1.5, 123.456, 1234.56, 3.16228e-6, 1e-3, 0.0099996, 4e12,
  ];
  assert.deepEqual(
    numbers.map((x) => fixed(x)),
    [
      "0.302",
      "0.990",
      "1.00",
      "0",
      "−1.50",
      "123",
      "1230",
      "3.16e-6",
      "0.00100",
      "0.0100",
      "4.00e12",
    ],
  );
});

test("a brief number has no zeros that say nothing", () => {
  const numbers = [0.002, 1e-5, 1.3e-5, 10, 100, 1000, 0.5, -2, 0, 1e6];
  assert.deepEqual(
    numbers.map((x) => brief(x)),
    ["0.002", "1e-5", "1.3e-5", "10", "100", "1000", "0.5", "−2", "0", "1e6"],
  );
});

test("what is no number says so", () => {
  assert.deepEqual(
    [NaN, Infinity].map((x) => fixed(x)),
    ["NaN", "NaN"],
  );
});

test("a power of ten is written with a raised exponent", () => {
  assert.deepEqual([-12, -1, 0, 1, 3].map(powerOfTen), ["10⁻¹²", "10⁻¹", "1", "10¹", "10³"]);
});

test("a scale maps its ends, and its inverse goes back", () => {
  const scale = linearScale([-8, 3], [30, 690]);
  assert.deepEqual([scale(-8), scale(3), scale(-2.5)], [30, 690, 360]);
  assert.ok(Math.abs(scale.invert(scale(0.7)) - 0.7) < 1e-12);
});

test("a limit is rounded up to 1, 2, 5 or 10", () => {
  assert.deepEqual(
    [0.7, 1, 1.1, 4.2, 5.1, 23].map((x) => roundUp(x)),
    [1, 1, 2, 5, 10, 50],
  );
  assert.equal(roundUp(2.1, [1, 3, 10]), 3);
});

test("a line breaks where a point is not finite", () => {
  const path = linePath([
    [0, 1],
    [1, 2],
    [2, NaN],
    [3, 4],
  ]);
  assert.equal(path, "M0.00 1.00L1.00 2.00M3.00 4.00");
});

test("drawing again keeps the nodes that fit and drops the rest", () => {
  const chart = svg("svg");
  const dot = (x) => shape("circle", { class: "dot", cx: x });
  const size = { width: 10, height: 5 };
  redraw(chart, size, [dot(1), dot(2), dot(3)]);
  const first = chart.firstChild;
  redraw(chart, size, [dot(4), shape("text", { class: "word" }, "a")]);
  assert.equal(chart.firstChild, first);
  assert.equal(first.getAttribute("cx"), "4");
  assert.deepEqual(
    [...chart.children].map((node) => node.tagName),
    ["circle", "text"],
  );
  assert.equal(chart.lastChild.textContent, "a");
});

test("what is remembered runs anew only when a value has changed", () => {
  let runs = 0;
  const sum = remembered((a, b) => {
    runs += 1;
    return a + b;
  });
  assert.deepEqual([sum(1, 2), sum(1, 2), sum(1, 3), sum(1, 3)], [3, 3, 4, 4]);
  assert.equal(runs, 2);
});

test("many calls make one run in the next frame", () => {
  let runs = 0;
  const later = lifetime(fakeModel({})).oncePerFrame(() => (runs += 1));
  later();
  later();
  assert.equal(runs, 0);
  nextFrame();
  assert.equal(runs, 1);
  later();
  nextFrame();
  assert.equal(runs, 2);
});

test("spoken text comes at once, then waits until the hand rests", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const spoken = spokenText(lifetime(fakeModel({})));
  spoken.say("first");
  assert.equal(spoken.node.textContent, "first");
  spoken.say("second");
  t.mock.timers.tick(300);
  spoken.say("third");
  t.mock.timers.tick(300);
  assert.equal(spoken.node.textContent, "first");
  t.mock.timers.tick(100);
  assert.equal(spoken.node.textContent, "third");
});

test("a slider over powers of ten gives two digits and says its value in words", () => {
  const heard = [];
  const slider = logSlider(lifetime(fakeModel({})), "ε", [-12, 0], (x) => heard.push(x));
  const input = slider.node.querySelector("input");
  slide(input, -4.9);
  assert.deepEqual(heard, [1.3e-5]);
  slider.show(1e-5);
  assert.equal(Number(input.value), -5);
  assert.equal(input.getAttribute("aria-valuetext"), "1e-5");
  slider.show(0);
  assert.equal(Number(input.value), -12);
  assert.equal(input.getAttribute("aria-valuetext"), "0");
});

test("a choice tells its value, shows one, and sends no form", () => {
  const heard = [];
  const options = { left: "Left", right: [svg("svg"), "Right"] };
  const { node, show } = choice(lifetime(fakeModel({})), "Side", options, (x) => heard.push(x));
  const [left, right] = node.querySelectorAll("input");
  assert.deepEqual(texts(node, "label"), ["Left", "Right"]);
  show("left");
  assert.deepEqual([left.checked, right.checked], [true, false]);
  right.checked = true;
  release(right);
  assert.deepEqual(heard, ["right"]);
  const sent = new Event("submit", { cancelable: true });
  node.dispatchEvent(sent);
  assert.ok(sent.defaultPrevented);
});

test("a marker's flag stays in the picture, and the numbers beside it make room", () => {
  const frame = { width: 100, bottom: 50 };
  const here = flagOf(frame, 95, "0.002");
  assert.ok(here.middle + here.half <= 100);
  const words = ticks(
    frame,
    [
      [10, "a"],
      [80, "b"],
    ],
    here,
  ).map((tick) => tick.words);
  assert.deepEqual(words, ["a"]);
});

test("a pointer is followed while it is pressed on a chart", () => {
  const node = place();
  const held = new Set();
  Object.assign(node, {
    setPointerCapture: (id) => held.add(id),
    hasPointerCapture: (id) => held.has(id),
    getBoundingClientRect: () => ({ left: 10, top: 20 }),
  });
  const heard = [];
  dragAlong(lifetime(fakeModel({})), node, (...at) => heard.push(at));
  const point = (type, clientX, button = 0) =>
    node.dispatchEvent(
      Object.assign(new Event(type), { clientX, clientY: 25, button, pointerId: 7 }),
    );
  point("pointermove", 11);
  point("pointerdown", 12, 2);
  point("pointerdown", 13);
  point("pointermove", 14);
  assert.deepEqual(heard, [
    [3, 5, true],
    [4, 5, false],
  ]);
});

test("a table is filled while it is open only", () => {
  let asked = 0;
  const tables = tableOnDemand(lifetime(fakeModel({})), "The numbers");
  const list = () => {
    asked += 1;
    return [
      {
        caption: "squares",
        columns: ["n", "n²"],
        rows: [
          ["2", "4"],
          ["3", "9"],
        ],
      },
    ];
  };
  place().append(tables.node);
  tables.show(list);
  assert.equal(asked, 0);
  tables.node.open = true;
  tables.node.dispatchEvent(new Event("toggle"));
  assert.deepEqual(texts(tables.node, "td"), ["4", "9"]);
  assert.deepEqual(texts(tables.node, "tbody th[scope=row]"), ["2", "3"]);
});

test("nothing is heard, drawn or said after the end", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const model = fakeModel({ scale: 1 });
  const life = lifetime(model);
  const heard = [];
  const node = place();
  const watched = ResizeObserver.watching;
  life.listen(node, "click", () => heard.push("click"));
  life.watch(["scale"], () => heard.push("change"));
  life.widthOf(node, () => heard.push("width"));
  life.oncePerFrame(() => heard.push("frame"))();
  life.afterPause(() => heard.push("pause"), 10)();
  life.end();
  node.dispatchEvent(new Event("click"));
  model.set("scale", 2);
  nextFrame();
  t.mock.timers.tick(20);
  assert.deepEqual(heard, []);
  assert.deepEqual(model.listeners, []);
  assert.equal(ResizeObserver.watching, watched);
});

test("bytes are numbers wherever they begin in their buffer", () => {
  const buffer = new ArrayBuffer(11);
  const view = new DataView(buffer, 3, 8);
  view.setFloat32(0, 1.5, true);
  view.setFloat32(4, -2, true);
  assert.deepEqual([...numbersFrom(view, Float32Array)], [1.5, -2]);
});

test("a place is refilled without making anew what can stay", () => {
  const row = (words, kind = "tb-tile") =>
    html("div", { class: kind }, html("strong", {}, words), " beside");
  const place = html("div", {}, row("1"), row("2"), html("p", {}, "last"));
  const [first, second] = place.children;
  refill(place, row("3", "tb-name"), html("p", {}, "other"));
  assert.equal(place.children[0], first);
  assert.notEqual(place.children[1], second);
  assert.equal(place.innerHTML, '<div class="tb-name"><strong>3</strong> beside</div><p>other</p>');
  refill(place, row("4"), html("p", {}), row("5"));
  assert.equal(
    place.innerHTML,
    '<div class="tb-tile"><strong>4</strong> beside</div><p></p>' +
      '<div class="tb-tile"><strong>5</strong> beside</div>',
  );
});

test("a shape that moves to another place, or is shown twice, is drawn where it is", () => {
  const [one, two] = [chart("one"), chart("two")];
  const still = label("tb-tick", 1, 2, "still");
  const other = (words) => label("tb-tick", 3, 4, words);
  const area = { width: 10, height: 10 };
  redraw(one, area, [other("a"), still]);
  redraw(two, area, [still]);
  redraw(one, area, [still, other("b"), shape("line", { class: "tb-grid", x1: 1 })]);
  const shown = [...one.children].map((node) => [node.tagName, node.textContent, node.getAttribute("x")]);
  assert.deepEqual(shown, [["text", "still", "1"], ["text", "b", "3"], ["line", "", null]]);
  redraw(one, area, [shape("line", { class: "tb-grid", x1: 2 })]);
  assert.deepEqual([one.children.length, one.firstChild.getAttribute("x1")], [1, "2"]);
  assert.equal(two.textContent, "still");
});

test("a shape takes the next element of its tag, and one with a key only its own", () => {
  const plan = chart("a plan");
  const area = { width: 10, height: 10 };
  const box = (x) => shape("rect", { class: "box", x });
  const lit = (key) => shape("path", { class: "lit", d: "M0 0" }, "", key);
  redraw(plan, area, [box(1), label("word", 1, 2, "a"), lit("one")]);
  const [rect, text, path] = plan.children;
  redraw(plan, area, [box(2), box(3), label("other", 1, 2, "b"), lit("two")]);
  assert.deepEqual([plan.children[0], plan.children[2]], [rect, text]);
  assert.equal(text.getAttribute("class"), "other");
  assert.notEqual(plan.children[3], path);
  redraw(plan, area, [shape("rect", { x: 4 })]);
  assert.equal(plan.innerHTML, '<rect x="4"></rect>');
});

test("words are written into the text node that is there", () => {
  const node = html("p", {});
  write(node, "one");
  const text = node.firstChild;
  write(node, "two");
  assert.equal(node.firstChild, text);
  assert.equal(node.textContent, "two");
});

test("the tables are open on paper, and folded again if they were", () => {
  const model = fakeModel({});
  const life = lifetime(model);
  const { node, show } = tableOnDemand(life, "The numbers");
  show(() => [{ caption: "one", columns: ["row", "0"], rows: [["0", "1"]] }]);
  const window = document.defaultView;
  window.dispatchEvent(new Event("beforeprint"));
  assert.equal(node.open, true);
  assert.equal(node.querySelectorAll("td").length, 1);
  window.dispatchEvent(new Event("afterprint"));
  assert.equal(node.open, false);
  life.end();
  window.dispatchEvent(new Event("beforeprint"));
  assert.equal(node.open, false);
});
