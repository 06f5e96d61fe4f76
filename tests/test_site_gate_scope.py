"""The gate scope in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table, three_digits, tiles
from playwright.sync_api import expect

from transformer_block.gelu import gelu, gelu_derivative
from transformer_block.swiglu import sigmoid, silu, silu_derivative
from transformer_block.widgets import GateScope

pytestmark = pytest.mark.site


@pytest.fixture
def scope(page, site_url):
    """The picture in a page, light and wide, with open gate."""
    return show(page, site_url, GateScope(gate=1.5, up=2.0))[0]


def passes(gate, up):
    gate = np.float64(gate)
    return three_digits([silu(gate), silu_derivative(gate), silu(gate) * up])


def test_it_stands_on_its_page_with_a_gate_that_is_nearly_shut(page, site_url):
    visit(page, f"{site_url}book/swiglu.html")
    assert tiles(page.locator(".tb-picture").first) == passes(-0.5, 2.0)


def test_it_opens_with_pythons_numbers(scope):
    assert tiles(scope) == passes(1.5, 2.0)


def test_the_table_holds_pythons_numbers_for_every_curve(scope):
    control(scope, "Gate").fill("-0.85")
    control(scope, "Up").fill("-1.6")
    scope.get_by_text("The numbers").click()
    expect(scope.locator("caption")).to_contain_text("Gate −0.85, up −1.6")
    g, u = np.float64(-0.85), -1.6
    s = sigmoid(g)
    rows = [(silu(g), silu_derivative(g)), (gelu(g), gelu_derivative(g)), (0, 0), (s, s * (1 - s))]
    wanted = [three_digits([open_, slope, open_ * u, open_, slope * u]) for open_, slope in rows]
    assert [[read(cell) for cell in row] for row in table(scope)] == wanted


def test_the_keyboard_shuts_the_gate_and_the_sentence_follows(scope):
    handle = control(scope, "Gate")
    handle.focus()
    for _ in range(40):
        handle.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "−0.5")
    expect(scope.locator(".tb-spoken").nth(1)).to_contain_text("−0.189 to up and 0.52 to the gate")
    assert tiles(scope) == passes(-0.5, 2.0)


def test_the_keyboard_changes_the_curve(scope, page):
    control(scope, "Gate").fill("-0.5")
    scope.get_by_role("radio", name="SiLU").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(scope.get_by_role("radio", name="ReLU")).to_be_checked()
    expect(scope.locator(".tb-spoken").nth(1)).to_contain_text("neither path learns")
    assert tiles(scope) == [0, 0, 0]


def test_the_mouse_drags_the_line_and_the_area(scope, page):
    for place, name, end in [(0, "Gate", "−6"), (1, "Up", "−4")]:
        chart = scope.locator(".tb-draggable").nth(place)
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 90)
        page.mouse.down()
        page.mouse.move(box["x"] + 5, box["y"] + 90, steps=4)
        page.mouse.up()
        expect(control(scope, name)).to_have_attribute("aria-valuetext", end)
        page.mouse.move(box["x"] + 200, box["y"] + 90)  # the button is up: nothing follows
        expect(control(scope, name)).to_have_attribute("aria-valuetext", end)


def test_a_button_shows_a_gate_that_has_nothing_to_let_through(scope):
    scope.get_by_role("button", name="Nothing to let through").click()
    expect(scope.locator(".tb-spoken").nth(1)).to_contain_text("the gate learns nothing")


def test_a_function_of_ones_own_joins_the_curves(page, site_url):
    (scope,) = show(page, site_url, GateScope(activation=np.tanh, gate=-2.0, curve="yours"))
    expect(scope.get_by_role("radio", name="yours")).to_be_checked()
    assert tiles(scope)[:2] == three_digits([np.tanh(-2.0), 1 - np.tanh(-2.0) ** 2])
    expect(scope.locator(".tb-chart path.tb-line.tb-yours")).to_have_count(2)
