"""The gate map in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table, three_digits, tiles
from playwright.sync_api import expect

from transformer_block.real_traces import load_real_trace
from transformer_block.swiglu import silu
from transformer_block.widgets import GateMap

pytestmark = pytest.mark.site


@pytest.fixture
def shown(page, site_url):
    """The picture in a page, light and wide."""
    return show(page, site_url, GateMap(token=2))[0]


def four(which, token, unit):
    """What Python makes of a stored gate and up."""
    trace = load_real_trace("repeat")
    gate, up = (np.float64(trace[f"gated_{name}"][which, token, unit]) for name in ("gate", "up"))
    return three_digits([gate, silu(gate), up, silu(gate) * up])


def test_it_stands_on_its_page(page, site_url):
    visit(page, f"{site_url}book/swiglu.html")
    assert tiles(page.locator(".tb-picture", has_text="How many gates")) == four(0, 2, 0)


def test_block_token_and_unit_lead_to_pythons_numbers(shown):
    for name, value in (("Block", "3"), ("Token", "7"), ("Unit", "1200")):
        control(shown, name).fill(value)
    expect(shown.locator(".tb-spoken")).to_contain_text("Block 22, token 7")
    assert tiles(shown) == four(3, 7, 1200)


def test_the_shares_of_nearly_closed_gates_are_pythons(shown):
    shown.get_by_text("The numbers").click()
    expect(shown.locator("caption").first).to_have_text("Block 0, unit 0")
    closed = np.mean(np.abs(silu(load_real_trace("repeat")["gated_gate"][0])) < 0.1, axis=-1)
    shares = [read(row[-1].removesuffix(" %")) for row in table(shown, 1)]
    assert shares == pytest.approx(100 * closed, abs=0.51)


def test_the_keyboard_sorts_the_units_by_the_chosen_token(shown, page):
    shown.get_by_role("radio", name="as in the model").focus()
    page.keyboard.press("ArrowRight")
    expect(shown.get_by_role("radio", name="widest open first")).to_be_checked()
    handle = control(shown, "Unit")
    handle.focus()
    handle.press("Home")
    widest = int(np.argmax(load_real_trace("repeat")["gated_gate"][0, 2]))
    expect(handle).to_have_attribute("aria-valuetext", str(widest))
    assert tiles(shown) == four(0, 2, widest)


def test_the_pointer_reads_a_cell_and_a_press_chooses_it(shown, page):
    near = shown.locator("svg.tb-map").nth(1)
    near.scroll_into_view_if_needed()
    box = near.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 8)
    expect(shown.locator(".tb-readout")).to_contain_text("The, unit 47: gate")
    page.mouse.down()
    expect(control(shown, "Unit")).to_have_value("47")
    expect(control(shown, "Token")).to_have_value("0")
    page.mouse.up()
    assert tiles(shown) == four(0, 0, 47)


def test_gates_of_ones_own_are_drawn(page, site_url):
    gate, up = np.array([[0.0, 2.0], [-4.0, 1.0]]), np.array([[1.0, -1.0], [0.5, 3.0]])
    (shown,) = show(page, site_url, GateMap(gate=gate, up=up, token=1, unit=1))
    assert tiles(shown) == three_digits([1.0, silu(1.0), 3.0, 3 * silu(1.0)])
