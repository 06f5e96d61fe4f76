"""Measure how long each picture takes to redraw, against one frame of a screen.

Every slider of every picture is moved 100 times, there and back through its whole range so that
each move changes something, and every button and choice is pressed 20 times, in turn. Two things
are told apart. The *work* of a move is what the page's own thread does for it, as Chromium's trace
has it: script, style, layout and paint, in processor time, so that other programs hardly count (on
a full machine they do: caches and the halves of a core are shared, and half as much again is
usual). The *wait* is the time from the move to the end of its frame on the clock: work, what the
compositor and the rasteriser do after it (here software on the same cores, on a reader's machine a
graphics card), and the beat of the screen, which alone is 16.7 ms however little there is to do. So
the work is what is held against a frame. An input that changes nothing but itself waits and works
as well; it stands first. Run with ``make bench`` after ``make book``, or as ``python
bench/redraw.py WIDGET …`` for some.
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import browser
import pictures

from transformer_block import widgets

FRAME = 16.0  # milliseconds
MOVES = 100
PRESSES = 20
MOVE = """async ({ controls, moves }) => {
  const act = (control, turn) => {
    if (control.type !== "range") return control.click();
    const [min, max, step] = [control.min, control.max, control.step].map(Number);
    const count = Math.min(moves / 2, Math.round((max - min) / step) || moves / 2);
    const place = turn % (2 * count);
    control.value = min + ((max - min) * Math.min(place, 2 * count - place)) / count;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const took = [];
  for (let turn = 1; turn <= moves; turn += 1) {
    performance.mark("move");
    const start = performance.now();
    act(controls[turn % controls.length], turn);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    took.push(performance.now() - start);
  }
  performance.mark("move");
  return took;
}"""
NAME = "(input) => input.getAttribute('aria-label') ?? input.labels[0].firstChild.textContent"
PLAIN = "document.body.appendChild(Object.assign(document.createElement('input'), {type: 'range'}))"
CATEGORIES = ["devtools.timeline", "blink.user_timing", "toplevel", "__metadata"]
PARTS = {  # what Chromium calls the pieces of a frame
    "style": {"UpdateLayoutTree", "ScheduleStyleRecalculation", "InvalidateLayout"},
    "layout": {"Layout", "IntersectionObserverController::computeIntersections"},
    "paint": {"PrePaint", "Paint", "Layerize", "Commit", "UpdateLayer", "UpdateLayerTree"},
    "script": {"FunctionCall", "EventDispatch", "FireAnimationFrame", "TimerFire", "RunMicrotasks"}
    | {"EvaluateScript", "MinorGC", "MajorGC", "V8.GCScavenger"},
}
PART_OF = {name: part for part, names in PARTS.items() for name in names}


def main():
    """Print, for every control, the work of a move and of what it consists, and the wait."""
    wanted = sys.argv[1:] or widgets.__all__
    with browser.serving(browser.built_book()) as url, browser.browsing() as chromium:
        for name in wanted:
            with browser.watched_page(chromium, url) as (page, _):
                (picture,) = pictures.show(page, url, getattr(widgets, name)())
                move_all(name, chromium, page, picture)


def move_all(name, chromium, page, picture):
    """Move the sliders of a picture one after the other, then press all the rest of it in turn."""
    plain = page.evaluate_handle(PLAIN)
    report(f"{name}: a plain input", *measured(chromium, page, [plain], MOVES))
    for slider in picture.locator("input[type=range]").element_handles():
        report(f"{name}: {slider.evaluate(NAME)}", *measured(chromium, page, [slider], MOVES))
    rest = picture.locator("button, input:not([type=range])").element_handles()
    waits, moves = measured(chromium, page, rest, PRESSES * len(rest))
    report(f"{name}: all {len(rest)} buttons and choices", waits, moves)


def measured(chromium, page, controls, moves):
    """Move controls under a trace; return the waits, and of each move the work by part."""
    controls[0].scroll_into_view_if_needed()
    chromium.start_tracing(page=page, categories=CATEGORIES)
    waits = page.evaluate(MOVE, {"controls": controls, "moves": moves})
    return waits, moves_of(json.loads(chromium.stop_tracing())["traceEvents"])


def moves_of(events):
    """Cut a trace at the moves; add up what the page's thread did for each, in milliseconds."""
    marks = sorted((e for e in events if e["name"] == "move"), key=lambda e: e["ts"])
    home = marks[0]["pid"], marks[0]["tid"]
    here = [e for e in events if (e["pid"], e["tid"]) == home and e["ph"] == "X"]
    moves = [defaultdict(float) for _ in marks[1:]]
    starts = [mark["ts"] for mark in marks]
    for begin, name, own in own_times(here):
        move = sum(start <= begin for start in starts) - 1
        if 0 <= move < len(moves):
            moves[move][PART_OF.get(name, "other")] += own / 1000
    return moves


def own_times(events):
    """Give begin, name and processor time of every event, without what lies within it."""
    open_events, found = [], []
    for event in sorted(events, key=lambda e: (e["ts"], -e.get("dur", 0))):
        while open_events and event["ts"] >= open_events[-1]["end"]:
            open_events.pop()
        took = event.get("tdur", event.get("dur", 0))
        if open_events:
            open_events[-1]["own"][2] -= took
        own = [event["ts"], event["name"], took]
        found.append(own)
        open_events.append({"end": event["ts"] + event.get("dur", 0), "own": own})
    return found


def report(name, waits, moves):
    """Print one line: the work at the median and at p95, its parts on average, and the waits."""
    work = [sum(move.values()) for move in moves]
    parts = ", ".join(
        f"{part} {statistics.fmean(move[part] for move in moves):.1f}" for part in [*PARTS, "other"]
    )
    print(f"{name:40} work {spread(work)} of {FRAME:.0f} ms ({parts}); wait {spread(waits)} ms")


def spread(times):
    """Write median and p95."""
    return f"{statistics.median(times):5.1f}, p95 {statistics.quantiles(times, n=20)[-1]:5.1f}"


if __name__ == "__main__":
    main()
