"""Living pictures in a page of the built book, for the tests that look at them and move them."""

import json
import re

from browser import visit
from ipywidgets.embed import dependency_state

STATE = re.compile(
    r'(<script type="application/vnd.jupyter.widget-state\+json">)(.*?)</script>', re.DOTALL
)
VIEW = re.compile(
    r'<script type="application/vnd.jupyter.widget-view\+json">.*?</script>', re.DOTALL
)


def show(page, site_url, *widgets):
    """Open the RMSNorm page with these widgets, as Python made them, in the place of its own.

    A widget that is named twice is one model with two views.
    """
    state = dependency_state(widgets, drop_defaults=False)
    views = [
        {"version_major": 2, "version_minor": 0, "model_id": widget.model_id} for widget in widgets
    ]

    def answer(route):
        fetched = route.fetch()
        text = with_widgets(fetched.text(), state, views)
        route.fulfill(response=fetched, body=text)

    page.route("**/book/rmsnorm.html", answer)
    visit(page, f"{site_url}book/rmsnorm.html")
    return [page.locator(".tb-picture").nth(i) for i in range(len(widgets))]


def with_widgets(page, state, views):
    """Write a page with another state of widgets, and views of it where it had its first view."""
    whole = {"version_major": 2, "version_minor": 0, "state": state}
    page = STATE.sub(lambda found: f"{found[1]}{json.dumps(whole)}</script>", page)
    first, *others = VIEW.findall(page)
    for other in others:
        page = page.replace(other, "")
    opening = first[: first.index(">") + 1]
    return page.replace(first, "".join(f"{opening}{json.dumps(v)}</script>" for v in views))


def control(picture, name, role="slider"):
    """Find a control of a picture by the name that a screen reader says."""
    return picture.get_by_role(role, name=name, exact=True)


def tiles(picture):
    """Read the numbers in large type."""
    return [read(text) for text in picture.locator(".tb-tile strong").all_text_contents()]


def table(picture, which=0):
    """Read the cells of a table that is open, row by row."""
    rows = picture.locator("table").nth(which).locator("tbody tr").all()
    return [row.locator("td").all_text_contents() for row in rows]


def read(text):
    """Read a number as a picture writes it."""
    return float(text.replace("−", "-"))


def three_digits(values):
    """Round as a picture does."""
    return [float(f"{value:.3g}") for value in values]
