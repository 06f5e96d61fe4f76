// Panels 2 and 3 of the gate scope: the product as an area, and the gradient on each path.

import {
  chart,
  dragAlong,
  label,
  linearScale,
  redraw,
  roundUp,
  rule,
  shape,
} from "./charts.js";
import { brief, clamp, fixed, panel, update, write } from "./common.js";
import { inSteps } from "./gate_scope_curves.js";
import { UPS, sayArea } from "./gate_scope_numbers.js";

const HEIGHTS = [1, 2, 4]; // how much opened gate the chart has room for

/** The product: as wide as up, as high as the opened gate. `change({ up })` is called on a drag. */
export function areaPanel(life, { change, settle }) {
  const area = chart(
    "The product as an area: as wide as up, as high as the opened gate",
    "tb-draggable",
  );
  const width = life.widthOf(area, settle);
  let frame;
  dragAlong(life, area, (px) => change({ up: inSteps(clamp(frame.x.invert(px), ...UPS)) }));
  const node = panel(
    "",
    "Drag its side. The dashed box is what up would pass through a gate that opens to 1",
    area,
  );
  return {
    node,
    show(now) {
      frame = areaFrame(width(), now.open);
      const title = sayArea(now);
      write(node.querySelector(".tb-title"), title);
      update(node, "aria-label", title);
      redraw(area, frame, drawArea(frame, now));
    },
  };
}

const areaKind = (product) => `tb-area ${product < 0 ? "tb-minus" : "tb-plus"}`;

/** Its scale follows the gate: a gate that is nearly shut is still seen to be open or negative. */
function areaFrame(width, open) {
  const height = Math.round(clamp(width * 0.42, 200, 270));
  const most = HEIGHTS.find((limit) => open <= limit) ?? HEIGHTS.at(-1);
  const f = { width, height, most, left: 30, right: width - 10, top: 22, bottom: height - 40 };
  const y = linearScale([-0.35 * most, 1.15 * most], [f.bottom, f.top]);
  return { ...f, x: linearScale(UPS, [f.left, f.right]), y };
}

function drawArea(f, { up, open, product }) {
  const [x, x0, y0] = [f.x(up), f.x(0), f.y(0)];
  const y = clamp(f.y(Number.isFinite(open) ? open : 0), f.top - 6, f.bottom);
  const box = boxOf([x, y], [x0, y0]);
  return [
    ...[0, 0.5, 1].flatMap((share) => rule(f, share * f.most)),
    shape("line", { class: "tb-axis", x1: x0, x2: x0, y1: f.top, y2: f.bottom }),
    ...[-4, -2, 0, 2, 4].map((at) => label("tb-tick", f.x(at), f.bottom + 18, brief(at), "middle")),
    label("tb-axis-name", 0, 10, "↑ opened gate"),
    label("tb-axis-name", f.right, f.height - 4, "up →", "end"),
    shape("rect", { class: areaKind(product), ...box }),
    shape("rect", { class: "tb-whole", ...boxOf([x, f.y(1)], [x0, y0]) }),
    shape("line", { class: "tb-edge-up", x1: x0, x2: x, y1: y0, y2: y0 }),
    shape("line", { class: "tb-edge-gate", x1: x, x2: x, y1: y0, y2: y }),
    shape("circle", { class: "tb-dot tb-handle", cx: x, cy: y, r: 7 }),
    ...edgeNames(f, { up, open, x, y }),
    ...areaName(f, box, product),
  ];
}

const boxOf = ([x, y], [x0, y0]) => ({
  x: Math.min(x, x0),
  y: Math.min(y, y0),
  width: Math.abs(x - x0),
  height: Math.abs(y - y0),
});

/** The sides say what they are: up along the axis, the gate beyond its side or, with no room there, before the box. */
function edgeNames(f, { up, open, x, y }) {
  const [x0, y0] = [f.x(0), f.y(0)];
  const out = up < 0 ? -1 : 1;
  const room = out < 0 ? x - f.left : f.right - x;
  const words = `opens to ${fixed(open)}`;
  const beyond = room > 12 + 7 * words.length;
  const at = beyond ? x + 12 * out : x0 - 8 * out;
  const anchor = beyond === out > 0 ? "start" : "end";
  const below = open < 0 ? -8 : 18;
  const middle = clamp((y + y0) / 2 + 4, f.top + 8, f.bottom - 4);
  const upName = label("tb-edge-name", (x + x0) / 2, y0 + below, `up ${brief(up)}`, "middle");
  const gateName = label("tb-edge-name", at, middle, words, anchor);
  return [...(up ? [upName] : []), ...(Number.isFinite(open) ? [gateName] : [])];
}

/** The product stands in its area where that has room. */
function areaName(f, { x, y, width, height }, product) {
  const words = brief(product);
  if (width < 12 + 12 * words.length || height < 34) return [];
  return [label("tb-area-name", x + width / 2, y + height / 2 + 7, words, "middle")];
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
    shape("rect", { class: `tb-bar tb-${kind}${kind === now.curve ? "" : " tb-beside"}`, ...at }),
    label(
      kind === now.curve ? "tb-row tb-chosen" : "tb-row",
      f.width,
      y + 14,
      fixed(value, 2),
      "end",
    ),
  ];
}
