"""What holds for every living picture in a page: colours, widths, paper, keys, two at once."""

import re

import numpy as np
import pytest
from accessibility import violations
from pictures import show
from playwright.sync_api import expect

from transformer_block import widgets

pytestmark = pytest.mark.site

every_widget = pytest.mark.parametrize("widget", [getattr(widgets, n) for n in widgets.__all__])

DRAWN = {  # what is seen: its colour, and the contrast that it needs
    ".tb-chart path.tb-line, .tb-chart .tb-bar": ("stroke", 3),
    "svg text:not(.tb-flag-text, .tb-area-name, .tb-in)": ("fill", 4.5),
    ".tb-spoken, .tb-subtitle, .tb-note, .tb-name, .tb-button, .tb-option": ("color", 4.5),
}


@every_widget
def test_lines_and_letters_stand_out_from_the_paper(page, site_url, widget):
    (picture,) = show(page, site_url, widget())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        paper = picture.evaluate("node => getComputedStyle(node).backgroundColor")
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        for selector, (style, least) in DRAWN.items():
            for colour in colours(picture, selector, style):
                assert contrast(colour, paper) >= least, (selector, colour, paper)


def colours(picture, selector, style):
    """The colours of all that is drawn so; a bar without an edge counts with its filling."""
    found = picture.locator(selector).evaluate_all(
        """(nodes, style) => nodes.map((node) => {
            const its = getComputedStyle(node);
            return its[style] === "none" ? its.fill : its[style];
        })""",
        style,
    )
    return set(found)


def luminance(colour):
    channels = np.array([int(x) for x in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@every_widget
def test_nothing_sticks_out_at_any_width(page, site_url, widget):
    (picture,) = show(page, site_url, widget())
    picture.get_by_text("The numbers").click()
    for width in (320, 375, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(EVERYTHING_INSIDE, arg=width)


EVERYTHING_INSIDE = """(width) => {
    const outer = document.querySelector(".tb-picture");
    const parts = outer.querySelectorAll("svg.tb-chart, svg text, button, input, table, p");
    const edges = [...parts].map((part) => part.getBoundingClientRect()).filter((box) => box.width);
    const { left, right, height } = outer.getBoundingClientRect();
    const room = outer.parentElement.getBoundingClientRect().height; // is told it, not asked
    if (Math.abs(height - room) > 0.1 || left < 0 || right > width) return false;
    return edges.every((edge) => edge.left >= left && edge.right <= right);
}"""


@every_widget
def test_axe_finds_nothing_with_the_tables_open(new_page, site_url, widget):
    page = new_page(width=375, scheme="dark", reduced_motion="reduce")
    (picture,) = show(page, site_url, widget())
    picture.get_by_text("The numbers").click()
    expect(picture.locator("table").first).to_be_visible()
    assert violations(page) == []


@every_widget
def test_on_paper_the_pictures_stay_and_the_controls_go(page, site_url, widget):
    (picture,) = show(page, site_url, widget())
    page.emulate_media(media="print")
    for chart in picture.locator("svg.tb-chart").all():
        expect(chart).to_be_visible()
    for control in picture.locator("button, input[type=range]").all():
        expect(control).to_be_hidden()


@every_widget
def test_the_keyboard_moves_every_slider(page, site_url, widget):
    (picture,) = show(page, site_url, widget())
    for handle in picture.get_by_role("slider").all():
        before = handle.input_value()
        handle.focus()
        handle.press("ArrowRight" if before == handle.get_attribute("min") else "ArrowLeft")
        expect(handle).not_to_have_value(before)


@every_widget
def test_two_views_of_a_model_move_together_and_another_model_stays(page, site_url, widget):
    shared = widget()
    first, second, other = show(page, site_url, shared, shared, widget())
    still = other.get_by_role("slider").first.input_value()
    handle = first.get_by_role("slider").first
    handle.focus()
    handle.press("End" if handle.get_attribute("max") != handle.input_value() else "Home")
    expect(second.get_by_role("slider").first).to_have_value(handle.input_value())
    assert handle.input_value() != still
    expect(other.get_by_role("slider").first).to_have_value(still)


@every_widget
def test_a_finger_scrolls_over_a_chart_and_has_room_on_every_control(new_page, site_url, widget):
    (picture,) = show(new_page(width=320, has_touch=True), site_url, widget())
    for chart in picture.locator(".tb-draggable").all():
        assert chart.evaluate("node => getComputedStyle(node).touchAction") == "pan-y"
    for control in picture.locator("button, .tb-option, input[type=range]").all():
        box = control.bounding_box()
        assert min(box["width"], box["height"]) >= 24
