"""Measure how long a picture of the built book takes to redraw, against one frame of a screen.

Both sides are in one run: an input that changes nothing but itself, and the slider of the RMSNorm
scope. Run with ``make bench`` after ``make book``; the figures are milliseconds and a ratio.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import browser

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
MOVE_WITH_COUNT = f"(input) => ({MOVE})(input, 200)"
PLAIN = "document.body.appendChild(Object.assign(document.createElement('input'), {type: 'range'}))"


def main():
    """Print the median and the 95th percentile of 200 moves of each input."""
    with browser.serving(browser.built_book()) as url, browser.browsing() as chromium:
        with browser.watched_page(chromium, url) as (page, _):
            browser.visit(page, f"{url}book/rmsnorm.html")
            plain = page.evaluate_handle(PLAIN).evaluate(MOVE_WITH_COUNT)
            slider = page.locator(".tb-picture").first.get_by_role("slider").first
            scope = slider.evaluate(MOVE_WITH_COUNT)
    for name, times in (("plain input", plain), ("RMSNorm scope", scope)):
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:14} median {median:5.1f} ms, p95 {p95:5.1f} ms")
    extra = statistics.median(scope) - statistics.median(plain)
    print(f"redraw beyond the browser's own frame: {extra:.1f} ms = {extra / FRAME:.2f} frames")


if __name__ == "__main__":
    main()
