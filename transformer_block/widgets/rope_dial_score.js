// Panel 2 of the RoPE dial: the score by the distance, and the score while both tokens move.

import {
  axisNames,
  chart,
  curve,
  dragAlong,
  flag,
  flagOf,
  keyItem,
  linearScale,
  redraw,
  roundUp,
  rule,
  shape,
  ticks,
} from "./charts.js";
import { brief, clamp, fixed, html, panel, refill } from "./common.js";
import { FARTHEST, SHIFTS } from "./rope_dial_numbers.js";

/** Build the panel; its two charts are dragged to move the query, and to move both. */
export function scorePanel(life, { now, change, settle }) {
  const distances = chart("The score by the distance of query and key", "tb-draggable");
  const shifts = chart("The score while both tokens move on together", "tb-draggable");
  const key = html("div", { class: "tb-key" });
  const width = life.widthOf(distances, settle);
  let frames;
  dragAlong(life, distances, (px) =>
    change(apart(now(), Math.round(frames.distance.x.invert(px)))),
  );
  dragAlong(life, shifts, (px) =>
    change({ shift: Math.round(clamp(frames.shift.x.invert(px), 0, SHIFTS)) }),
  );
  return {
    node: panel(
      "Only the distance counts",
      "Drag the upper line to change the distance, the lower one to move both",
      key,
      distances,
      shifts,
    ),
    show(seen) {
      frames = framesOf(width(), seen);
      const { distance, shift } = frames;
      const names = [
        ["score", "distance m − n"],
        ["score", "both moved on by"],
      ];
      const rows = [
        [distances, distance, seen.byDistance, seen.yours?.distances, seen.distance, names[0]],
        [shifts, shift, seen.byShift, seen.yours?.shifts, seen.shift, names[1]],
      ];
      for (const [node, frame, scores, yours, here, words] of rows)
        redraw(node, frame, draw(frame, scores, yours, here, seen.score, words));
      refill(key, ...keyOf(seen));
    },
  };
}

/** Bring the query so far from the key; where there is no room, the key moves instead. */
export function apart({ key_at }, wanted) {
  const distance = clamp(wanted, -FARTHEST, FARTHEST);
  const query_at = clamp(key_at + distance, 0, FARTHEST);
  return { query_at, key_at: query_at - distance };
}

function framesOf(width, { byDistance, byShift, yours }) {
  const scores = [...byDistance, ...byShift, ...(yours?.distances ?? []), ...(yours?.shifts ?? [])];
  const largest = Math.max(0.1, ...scores.filter(Number.isFinite).map(Math.abs));
  const limit = roundUp(largest, [1, 1.5, 2, 3, 4, 5, 6, 8, 10]);
  const frame = (span, every) => {
    const area = { left: 34, right: width - 12, top: 24, bottom: 156 };
    const x = linearScale(span, [area.left, area.right]);
    const y = linearScale([-limit, limit], [area.bottom - 14, area.top]);
    return { ...area, width, height: 202, span, every, limit, x, y };
  };
  const wide = width >= 520;
  return {
    distance: frame([-FARTHEST, FARTHEST], wide ? 8 : 16),
    shift: frame([0, SHIFTS], wide ? 10 : 25),
  };
}

function draw(f, scores, yours, here, score, [up, along]) {
  const at = flagOf(f, f.x(here), brief(here));
  const places = [];
  for (let x = f.span[0]; x <= f.span[1]; x += f.every) places.push([f.x(x), brief(x)]);
  const points = (row) =>
    row.map((value, i) => [f.x(f.span[0] + i), clamp(f.y(value), f.top - 6, f.bottom + 6)]);
  return [
    ...[f.limit, 0, -f.limit].flatMap((y) => rule(f, y)),
    ...ticks(f, places, at),
    ...axisNames(f, up, along),
    curve("tb-score", points(scores)),
    ...(yours ? [curve("tb-yours", points(yours))] : []),
    shape("line", { class: "tb-marker", x1: at.x, x2: at.x, y1: f.top, y2: f.bottom }),
    shape("circle", { class: "tb-dot tb-score", cx: at.x, cy: f.y(score), r: 5.5 }),
    ...flag(f, at),
  ];
}

function keyOf({ score, yours, distance, shift }) {
  const items = [keyItem("line", "tb-line tb-score", "score", fixed(score))];
  if (yours?.shifts) {
    const own = yours.distances[distance + FARTHEST];
    items.push(keyItem("line", "tb-line tb-yours", yours.name, fixed(own ?? yours.shifts[shift])));
  }
  return items;
}
