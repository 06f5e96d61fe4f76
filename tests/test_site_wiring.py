"""The wiring in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from pictures import control, read, show, table, three_digits, tiles
from playwright.sync_api import expect

from transformer_block.widgets import Wiring
from transformer_block.widgets.wiring import WEIGHTS

pytestmark = pytest.mark.site


@pytest.fixture
def wiring(page, site_url):
    """The picture in a page, light and wide."""
    return show(page, site_url, Wiring(depth=32, layer=0, weights="large"))[0]


def sizes(weights, depth, layer):
    """Gradient and stream of the three wirings, from what Python measured."""
    measured = Wiring()
    which = list(WEIGHTS).index(weights)
    gradients = np.frombuffer(measured.gradients, np.float32).reshape(3, 3, -1)[:, which]
    streams = np.frombuffer(measured.streams, np.float32).reshape(3, 3, -1)[:, which]
    begin = (depth - 1) * (depth + 2) // 2
    return three_digits([*gradients[:, begin + layer], *streams[:, layer]])


def test_it_opens_with_pythons_numbers(wiring):
    assert tiles(wiring) == sizes("large", 32, 0)


def test_depth_layer_and_weights_lead_to_pythons_numbers(wiring):
    control(wiring, "Depth").fill("57")
    control(wiring, "After block").fill("11")
    wiring.get_by_role("radio", name="Middle").check()
    expect(wiring.locator(".tb-tile .tb-note").first).to_have_text("after block 11")
    assert tiles(wiring) == sizes("middle", 57, 11)


def test_the_table_holds_pythons_numbers(wiring):
    wiring.get_by_text("The numbers").click()
    expect(wiring.locator("caption").first).to_contain_text("32 blocks")
    layers = [*range(0, 32, 4), 32]
    for which, part in ((0, slice(3)), (1, slice(3, 6))):
        rows = [[read(cell) for cell in row] for row in table(wiring, which)]
        assert rows == [sizes("large", 32, layer)[part] for layer in layers]


def test_the_keyboard_moves_the_depth_and_the_sentence_follows(wiring):
    handle = control(wiring, "Depth")
    handle.focus()
    handle.press("End")
    expect(handle).to_have_attribute("aria-valuetext", "64")
    expect(wiring.locator(".tb-spoken").first).to_contain_text("enters above block 64")
    assert tiles(wiring) == sizes("large", 64, 0)


def test_the_keyboard_chooses_a_wiring(wiring, page):
    wiring.get_by_role("radio", name="Pre-norm").focus()
    page.keyboard.press("ArrowRight")
    expect(wiring.get_by_role("radio", name="Post-norm")).to_be_checked()
    expect(wiring.locator(".tb-spoken").first).to_contain_text("Post-norm: on average")


def test_the_mouse_drags_the_layer_in_both_charts(wiring, page):
    for place, end in ((0, "32"), (1, "0")):
        chart = wiring.locator(".tb-draggable").nth(place)
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 90)
        page.mouse.down()
        page.mouse.move(box["x"] + (box["width"] - 2 if end == "32" else 5), box["y"] + 90, steps=3)
        page.mouse.up()
        expect(control(wiring, "After block")).to_have_value(end)
