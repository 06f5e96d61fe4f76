"""The RMSNorm scope in the built page: it draws and moves with no Python behind it."""

import re

import numpy as np
import pytest
from browser import visit
from pictures import control, read, three_digits, tiles
from playwright.sync_api import expect

from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_forward

pytestmark = pytest.mark.site

ROW = np.array([0.8, 1.4, -0.2, 0.6, 1.7, -0.9, 1.1, 0.3])  # what the page opens with, RMS 1


@pytest.fixture
def scope(page, site_url):
    """The picture on its page, light and wide."""
    return on_page(page, site_url)


def on_page(page, site_url):
    visit(page, f"{site_url}book/rmsnorm.html")
    return page.locator(".tb-picture").first


def factors(s, eps):
    """RMS of the output for ε inside, outside and absent, from Python's own forward."""
    inside, _ = rmsnorm_forward(np.array([s, -s]), np.ones(2), eps)
    return three_digits([inside[0], s / (s + eps), 1.0])


def test_it_opens_with_three_curves_and_pythons_numbers(scope):
    expect(scope.locator("path.tb-line")).to_have_count(3)
    assert tiles(scope) == factors(0.002, 1e-5)


def test_the_table_holds_pythons_numbers(scope):
    control(scope, "Input scale").fill("-1.3")  # 0.05
    control(scope, "ε").fill("-2.7")  # 0.002
    scope.get_by_text("The numbers").click()
    rows = scope.locator("table").nth(1).locator("tbody tr")
    expect(scope.locator("caption").nth(1)).to_contain_text("0.05 × vector")
    cells = [row.locator("td").all_text_contents() for row in rows.all()][: len(ROW)]
    shown = np.array([[read(cell) for cell in row] for row in cells])
    rms_out, _ = rmsnorm_forward(0.05 * ROW, np.ones(8), 0.002)
    layer_out, _ = layernorm_forward(0.05 * ROW, np.ones(8), np.zeros(8), 0.002)
    assert shown[:, 0].tolist() == ROW.tolist()
    assert shown[:, 1].tolist() == three_digits(rms_out)
    assert shown[:, 2].tolist() == pytest.approx(three_digits(layer_out), abs=1e-12)


def test_the_keyboard_moves_a_slider_and_the_sentence_follows(scope):
    handle = control(scope, "Input scale")
    handle.focus()
    for _ in range(3):
        handle.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "0.001")
    expect(scope.locator(".tb-spoken").first).to_contain_text("0.302 with ε inside the root, 0.99")
    assert tiles(scope) == factors(0.001, 1e-5)


def test_the_keyboard_moves_a_bar_up_and_down(scope):
    bar = control(scope, "Feature 2")
    bar.focus()
    bar.press("ArrowUp")
    expect(bar).to_have_attribute("aria-valuetext", "1.45")
    bar.press("ArrowDown")
    bar.press("ArrowDown")
    expect(bar).to_have_attribute("aria-valuetext", "1.35")


def test_the_mouse_drags_the_marker_along_the_axis(scope, page):
    chart = scope.locator(".tb-draggable")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 10, box["y"] + 100, steps=4)
    page.mouse.up()
    expect(control(scope, "Input scale")).to_have_attribute("aria-valuetext", "1000")
    page.mouse.move(box["x"] + 30, box["y"] + 100)  # the button is up: nothing follows
    expect(control(scope, "Input scale")).to_have_attribute("aria-valuetext", "1000")


def test_the_mouse_drags_a_bar(scope, page):
    bar = control(scope, "Feature 6")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    middle, unit = box["x"] + box["width"] / 2, (box["height"] - 14) / 8
    zero = box["y"] + box["height"] / 2
    page.mouse.move(middle, zero + 0.9 * unit)
    page.mouse.down()
    page.mouse.move(middle, zero - 3 * unit, steps=4)
    page.mouse.up()
    expect(bar).to_have_value("3")
    assert tiles(scope)[0] == factors(0.002 * np.sqrt((8 - 0.81 + 9) / 8), 1e-5)[0]


def test_a_finger_moves_a_bar_on_a_phone(new_page, site_url):
    page = new_page(width=320, height=700, has_touch=True)
    scope = on_page(page, site_url)
    bar = control(scope, "Feature 8")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box["width"] >= 24
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 7)
    expect(bar).to_have_value("4")


def test_adding_one_to_all_leaves_layernorm_where_it_was(scope):
    control(scope, "Input scale").fill("0")
    scope.get_by_role("button", name="Add 1 to all").click()
    expect(scope.locator(".tb-spoken").nth(1)).to_have_text(
        re.compile(r"RMSNorm moves by up to 0\.\d+, LayerNorm stays where it was")
    )
    expect(scope.locator(".tb-chart .tb-before")).to_have_count(3 * len(ROW))


def test_with_the_mean_gone_both_agree(scope):
    scope.get_by_role("button", name="Subtract the mean").click()
    control(scope, "Input scale").fill("0")
    expect(scope.locator(".tb-spoken").nth(1)).to_contain_text("RMSNorm and LayerNorm agree")
