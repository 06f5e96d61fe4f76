// Panels 2 and 3 of the gate scope: the product as an area, and the gradient on each path.

import {
  chart,
  dragAlong,
  keyItem,
  label,
  linearScale,
  redraw,
  roundUp,
  rule,
  shape,
} from "./charts.js";
import { brief, clamp, fixed, html, panel, refill } from "./common.js";
import { inSteps } from "./gate_scope_curves.js";
import { UPS } from "./gate_scope_numbers.js";

const OPENS = [-0.6, 4];

/** The product: as wide as up, as high as the opened gate. `change({ up })` is called on a drag. */
export function areaPanel(life, { change, settle }) {
  const area = chart(
    "The product as an area: as wide as up, as high as the opened gate",
    "tb-draggable",
  );
  const key = html("div", { class: "tb-key" });
  const width = life.widthOf(area, settle);
  let frame;
  dragAlong(life, area, (px) => change({ up: inSteps(clamp(frame.x.invert(px), ...UPS)) }));
  return {
    node: panel(
      "The product is an area",
      "Drag its side: the width is what up is worth, the height what the gate is",
      key,
      area,
    ),
    show(now) {
      frame = areaFrame(width());
      redraw(area, frame, drawArea(frame, now));
      refill(
        key,
        keyItem("line", "tb-edge-up", "up", brief(now.up)),
        keyItem("line", "tb-edge-gate", "opened gate", fixed(now.open)),
        keyItem("bar", areaKind(now.product), "product", fixed(now.product)),
      );
    },
  };
}

const areaKind = (product) => `tb-area ${product < 0 ? "tb-minus" : "tb-plus"}`;

function areaFrame(width) {
  const height = Math.round(clamp(width * 0.4, 180, 250));
  const f = { width, height, left: 30, right: width - 10, top: 20, bottom: height - 40 };
  return { ...f, x: linearScale(UPS, [f.left, f.right]), y: linearScale(OPENS, [f.bottom, f.top]) };
}

function drawArea(f, { up, open, product }) {
  const [x, x0, y0] = [f.x(up), f.x(0), f.y(0)];
  const y = clamp(f.y(Number.isFinite(open) ? open : 0), f.top - 6, f.bottom);
  const box = {
    x: Math.min(x, x0),
    y: Math.min(y, y0),
    width: Math.abs(x - x0),
    height: Math.abs(y - y0),
  };
  return [
    ...[0, 1, 2, 3, 4].flatMap((level) => rule(f, level)),
    shape("line", { class: "tb-axis", x1: x0, x2: x0, y1: f.top, y2: f.bottom }),
    ...[-4, -2, 2, 4].map((at) => label("tb-tick", f.x(at), f.bottom + 18, brief(at), "middle")),
    label("tb-axis-name", 0, 10, "↑ opened gate"),
    label("tb-axis-name", f.right, f.height - 4, "up →", "end"),
    shape("rect", { class: areaKind(product), ...box }),
    shape("line", { class: "tb-edge-up", x1: x0, x2: x, y1: y0, y2: y0 }),
    shape("line", { class: "tb-edge-gate", x1: x, x2: x, y1: y0, y2: y }),
    shape("circle", { class: "tb-dot tb-handle", cx: x, cy: y, r: 7 }),
    ...areaName(f, box, product),
  ];
}

/** The product stands in its area where that has room. */
function areaName(f, { x, y, width, height }, product) {
  const words = brief(product);
  if (width < 12 + 9 * words.length || height < 26) return [];
  return [label("tb-area-name", x + width / 2, y + height / 2 + 5, words, "middle")];
}

const ROW = 21;
const LIMITS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
const GROUPS = [
  { to: "toUp", title: "to up", note: "the opened gate" },
  { to: "toGate", title: "to the gate", note: "up × slope" },
];

/** What of a gradient of 1 on the product reaches each path, under every curve. */
export function gradientPanel(life, { settle }) {
  const bars = chart("The gradient on the up path and on the gate path, under each curve");
  const width = life.widthOf(bars, settle);
  return {
    node: panel(
      "Each path gets the other’s value",
      "What a gradient of 1 on the product becomes on its way back",
      bars,
    ),
    show(now) {
      const frame = barFrame(width(), now);
      redraw(bars, frame, [
        ...axis(frame),
        ...GROUPS.flatMap((group, i) => drawGroup(frame, group, i, now)),
      ]);
    },
  };
}

function barFrame(width, { all }) {
  const kinds = Object.keys(all);
  const sizes = Object.values(all).flatMap(({ toUp, toGate }) => [toUp, toGate].map(Math.abs));
  const limit = roundUp(Math.max(0.5, ...sizes.filter(Number.isFinite)), LIMITS);
  const group = 30 + ROW * kinds.length;
  const f = { width, height: 2 * group + 20, group, left: 64, right: width - 54, kinds, limit };
  return { ...f, x: linearScale([-limit, limit], [f.left, f.right]), bottom: 2 * group };
}

function axis(f) {
  return [-f.limit, 0, f.limit].flatMap((value) => [
    shape("line", {
      class: value ? "tb-grid" : "tb-axis",
      x1: f.x(value),
      x2: f.x(value),
      y1: 22,
      y2: f.bottom,
    }),
    label("tb-tick", f.x(value), f.bottom + 15, brief(value), "middle"),
  ]);
}

function drawGroup(f, { to, title, note }, place, now) {
  const top = place * f.group;
  const rows = f.kinds.flatMap((kind, i) =>
    drawRow(f, kind, top + 24 + ROW * i, now.all[kind][to], now),
  );
  return [
    label("tb-group", 0, top + 14, title),
    label("tb-tick", f.right + 54, top + 14, note, "end"),
    ...rows,
  ];
}

function drawRow(f, kind, y, value, now) {
  const end = f.x(Number.isFinite(value) ? value : 0);
  const at = { x: Math.min(end, f.x(0)), y: y + 3, width: Math.abs(end - f.x(0)), height: ROW - 7 };
  return [
    label(kind === now.curve ? "tb-row tb-chosen" : "tb-row", 0, y + 14, now.curves[kind].name),
    shape("rect", { class: `tb-bar tb-${kind}`, ...at }),
    label(
      kind === now.curve ? "tb-row tb-chosen" : "tb-row",
      f.width,
      y + 14,
      fixed(value, 2),
      "end",
    ),
  ];
}
