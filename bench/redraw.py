"""Measure how long each picture takes to redraw, against one frame of a screen.

All sides are in one run: an input that changes nothing but itself, and every slider of every
picture. Run with ``make bench`` after ``make book``. Waits depend on what else the machine does,
the work of the page's own thread hardly.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import browser
import pictures

from transformer_block import widgets

FRAME = 16.0  # milliseconds
MOVE = """async (input, moves) => {
  const took = [];
  for (let step = 0; step <= moves; step += 1) {
    await new Promise((drawn) => requestAnimationFrame(drawn));
    const start = performance.now();
    input.value = Number(input.min) + ((input.max - input.min) * step) / moves;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    took.push(performance.now() - start);
  }
  return took;
}"""
MOVE_OFTEN = f"(input) => ({MOVE})(input, 100)"
PLAIN = "document.body.appendChild(Object.assign(document.createElement('input'), {type: 'range'}))"


def main():
    """Print, for 100 moves of each slider, the time to the next frame and the work behind it."""
    with browser.serving(browser.built_book()) as url, browser.browsing() as chromium:
        for name in widgets.__all__:
            with browser.watched_page(chromium, url) as (page, _):
                (picture,) = pictures.show(page, url, getattr(widgets, name)())
                plain = page.evaluate_handle(PLAIN)
                idle = measured(page, plain)
                print(sentence("plain input", *idle))
                for slider in picture.locator(".tb-slider input").all():
                    title = slider.evaluate("input => input.labels[0].firstChild.textContent")
                    times, work = measured(page, slider)
                    print(sentence(f"{name}: {title}", times, work))
                    extra = work - idle[1]
                    print(
                        f"    beyond the plain input: {extra:.1f} ms = {extra / FRAME:.2f} frames"
                    )


def measured(page, slider):
    """Move a slider; return each wait for the next frame, and the mean work of the page's thread.

    The work is processor time, so that other programs on the machine do not count.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = work_of(session)
    times = slider.evaluate(MOVE_OFTEN)
    return times, 1000 * (work_of(session) - before) / len(times)


def work_of(session):
    """Read the seconds that the page's main thread has worked."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def sentence(name, times, work):
    """Put figures into one line."""
    median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return f"{name:32} median {median:5.1f} ms, p95 {p95:5.1f} ms; work {work:4.1f} ms"


if __name__ == "__main__":
    main()
