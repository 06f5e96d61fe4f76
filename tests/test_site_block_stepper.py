"""The block stepper in a page: it steps and plays with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table
from playwright.sync_api import expect

from transformer_block.widgets import BlockStepper
from transformer_block.widgets.block_stepper import STEPS, values_of

pytestmark = pytest.mark.site

JOIN = list(STEPS).index("join2")

# The plan is drawn in one frame and the arrays in the next.
TWO_FRAMES = """() => new Promise((drawn) =>
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn)))
)"""


@pytest.fixture
def stepper(page, site_url):
    """The picture in a page, light and wide, at the first place where two ways join."""
    return show(page, site_url, BlockStepper(step=JOIN))[0]


def cells(picture):
    """Read the numbers that are drawn, in the order in which they are drawn."""
    return [read(text) for text in picture.locator(".tb-cell-words").all_text_contents()]


def drawn(*names):
    """Python's numbers, rounded as the cells are."""
    values = values_of(None, None, 2, None)
    return np.concatenate([values[name].ravel() for name in names])


def test_the_sum_at_the_join_has_pythons_numbers(stepper):
    np.testing.assert_allclose(cells(stepper), drawn("dout", "dbranch2", "dresidual"), atol=0.00501)
    assert stepper.locator(".tb-operator").all_text_contents() == ["+", "="]


def test_every_step_has_pythons_numbers_in_its_tables(stepper):
    handle = control(stepper, "Step")
    stepper.get_by_text("The numbers").click()
    for step, names in (("project", ["normed1", "q", "k", "v"]), ("dweights", ["dweights"])):
        handle.fill(str(list(STEPS).index(step)))
        expect(handle).to_have_value(str(list(STEPS).index(step)))
        for which, name in enumerate(names):
            expect(stepper.locator("caption").nth(which)).to_contain_text(name.rstrip("1"))
            shown = [read(cell) for row in table(stepper, which) for cell in row]
            np.testing.assert_allclose(shown, drawn(name), rtol=6e-4, atol=1e-6)


def test_the_arrow_keys_walk_from_a_button_and_from_the_slider(stepper, page):
    handle = control(stepper, "Step")
    control(stepper, "Next", "button").focus()
    page.keyboard.press("ArrowRight")
    expect(handle).to_have_value(str(JOIN + 1))
    page.keyboard.press("Home")
    expect(stepper.locator(".tb-spoken")).to_contain_text("The stream comes in")
    handle.focus()
    handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "Forward 2 of 14: first norm")
    expect(stepper.locator(".tb-on")).to_have_text(
        ['normed, norm1 = rmsnorm_forward(x, params["attn_norm"], eps)']
    )


def test_the_mouse_goes_to_a_part_of_the_plan(stepper):
    name = stepper.locator(".tb-node-name", has_text="softmax")
    name.scroll_into_view_if_needed()
    name.click()
    expect(control(stepper, "Step")).to_have_value(str(list(STEPS).index("dweights")))
    expect(stepper.locator("rect.tb-node.tb-lit")).to_have_count(1)


def test_it_plays_and_pauses(stepper):
    control(stepper, "Play", "button").click()
    expect(control(stepper, "Step")).to_have_value(str(JOIN + 1))
    control(stepper, "Pause", "button").click()
    expect(control(stepper, "Play", "button")).to_be_visible()


@pytest.mark.parametrize(("motion", "runs"), [("no-preference", 1), ("reduce", 0)])
def test_nothing_glides_for_those_who_want_no_motion(new_page, site_url, motion, runs):
    (picture,) = show(new_page(reduced_motion=motion), site_url, BlockStepper(step=JOIN))
    control(picture, "Play", "button").click()
    lit = picture.locator(".tb-wire.tb-lit").first
    expect(lit).to_have_css("animation-name", "tb-run" if runs else "none")


def test_nothing_below_moves_from_step_to_step(new_page, site_url):
    (picture,) = show(new_page(width=1280), site_url, BlockStepper())
    handle = control(picture, "Step")
    heights = set()
    for step in range(len(STEPS)):
        handle.fill(str(step))
        picture.evaluate(TWO_FRAMES)
        heights.add(picture.locator("svg.tb-chart").last.bounding_box()["height"])
    assert len(heights) == 1


def test_on_a_phone_the_buttons_stay_beside_what_they_move(new_page, site_url):
    page = new_page(width=375, height=700)
    (picture,) = show(page, site_url, BlockStepper())
    picture.locator(".tb-held").evaluate("held => held.scrollIntoView({block: 'end'})")
    further, places = control(picture, "Next", "button"), set()
    for _ in range(5):
        expect(further).to_be_in_viewport(ratio=1)
        places.add(further.bounding_box()["y"])
        further.click()
    assert len(places) == 1


def test_the_page_of_the_block_has_it_with_the_numbers_of_the_library(page, site_url):
    visit(page, f"{site_url}book/block.html")
    picture = page.locator(".tb-picture", has=page.locator(".tb-plan"))
    np.testing.assert_allclose(cells(picture), drawn("x"), atol=0.00501)
