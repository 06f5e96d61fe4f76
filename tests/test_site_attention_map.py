"""The attention map in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table, tiles
from playwright.sync_api import expect

from transformer_block.real_traces import load_real_trace
from transformer_block.widgets import AttentionMap

pytestmark = pytest.mark.site


@pytest.fixture
def shown(page, site_url):
    """The picture in a page, light and wide, as it opens."""
    return show(page, site_url, AttentionMap())[0]


def row(text, layer, head, query):
    """A row of the stored weights."""
    return load_real_trace(text)["attention"][layer, head, query, : query + 1]


def in_hundredths(values):
    return [float(f"{value:.2f}") for value in values]


def large_numbers(text, layer, head, query, key):
    """What stands in large type: the pair, the first token, and e to the entropy of the row."""
    weights = row(text, layer, head, query)
    p = weights[weights > 0] / weights.sum()
    spread = float(f"{np.exp(-np.sum(p * np.log(p))):.1f}")
    return [*in_hundredths([weights[key], weights[0]]), spread]


def test_it_stands_on_its_page_with_the_head_that_found_the_wall(page, site_url):
    visit(page, f"{site_url}book/attention.html")
    picture = page.locator(".tb-picture", has_text="Who looks at whom")
    assert tiles(picture) == large_numbers("repeat", 18, 6, 12, 5)


def test_every_slider_leads_to_pythons_numbers(shown):
    for name, value in (("Block", "16"), ("Head", "0"), ("Query", "9"), ("Key", "8")):
        control(shown, name).fill(value)
    expect(shown.locator(".tb-spoken")).to_contain_text("Block 16, head 0: token 9, “old”")
    assert tiles(shown) == large_numbers("repeat", 16, 0, 9, 8)


def test_the_table_holds_pythons_row(shown):
    shown.get_by_text("The numbers").click()
    expect(shown.locator("caption")).to_contain_text("Block 18, head 6: the row of 12: the")
    weights = [read(cells[0]) for cells in table(shown)]
    assert weights == in_hundredths(row("repeat", 18, 6, 12))


def test_the_keyboard_moves_the_query_and_the_key_follows(shown, page):
    handle = control(shown, "Query")
    handle.focus()
    handle.press("Home")
    expect(handle).to_have_attribute("aria-valuetext", "0: The")
    expect(control(shown, "Key")).to_have_attribute("aria-valuetext", "0: The")
    assert tiles(shown) == [1, 1, 1]


def test_the_keyboard_chooses_a_text(shown, page):
    shown.get_by_role("radio", name="A repeat").focus()
    page.keyboard.press("ArrowRight")
    expect(shown.locator(".tb-sentence")).to_contain_text("When Mary and John")
    expect(control(shown, "Query")).to_have_attribute("aria-valuetext", "13: to")


def test_a_pressed_cell_is_chosen_and_the_pointer_reads_others(shown, page):
    chart = shown.locator("svg.tb-map").nth(1)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    place = (box["x"] + box["width"] - 10, box["y"] + 26)  # the last block, the first head
    page.mouse.move(*place)
    pair = load_real_trace("repeat")["attention"][:, :, 12, 5]
    expect(shown.locator(".tb-readout").nth(1)).to_have_text(f"block 29, head 0: {pair[29, 0]:.2f}")
    expect(control(shown, "Block")).to_have_value("18")
    page.mouse.down()
    expect(control(shown, "Block")).to_have_value("29")
    expect(control(shown, "Head")).to_have_value("0")
    page.mouse.up()


def test_a_drag_over_the_map_chooses_query_and_key(shown, page):
    chart = shown.locator("svg.tb-map").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 150, steps=4)
    page.mouse.up()
    expect(control(shown, "Query")).to_have_value("0")
    expect(control(shown, "Key")).to_have_value("0")


def test_the_buttons_find_the_heads_that_the_page_speaks_of(shown):
    weights = load_real_trace("repeat")["attention"]
    queries = np.arange(2, weights.shape[-1])
    for name, measure in (
        ("A head that looks one back", weights[:, :, queries, queries - 1].mean(axis=-1)),
        ("One that rests on the first", weights[:, :, queries, 0].mean(axis=-1)),
    ):
        shown.get_by_role("button", name=name).click()
        layer, head = np.unravel_index(measure.argmax(), measure.shape)
        expect(control(shown, "Block")).to_have_value(str(layer))
        expect(control(shown, "Head")).to_have_value(str(head))
    shown.get_by_role("button", name="Reset").click()
    expect(control(shown, "Block")).to_have_value("18")


def test_weights_of_ones_own_are_shown_alone(page, site_url):
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.2, 0.6]])
    (shown,) = show(page, site_url, AttentionMap(attention=weights, tokens=["x", "y", "z"]))
    assert shown.get_by_role("radio").count() == 0
    control(shown, "Key").fill("2")
    assert tiles(shown)[:2] == [0.6, 0.2]
