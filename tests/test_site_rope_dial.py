"""The RoPE dial in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table, three_digits
from playwright.sync_api import expect

from transformer_block.rope import rope_forward
from transformer_block.widgets import RoPEDial

pytestmark = pytest.mark.site

QUERY, KEY = (np.array(getattr(RoPEDial(), name)) for name in ("query", "key"))


@pytest.fixture
def dial(page, site_url):
    """The picture in a page, light and wide."""
    return show(page, site_url, RoPEDial())[0]


def turned(m, n, half_split=False):
    """Query and key at their positions, from Python's own forward."""
    q, _ = rope_forward(QUERY[np.newaxis], np.array([m]), half_split=half_split)
    k, _ = rope_forward(KEY[np.newaxis], np.array([n]), half_split=half_split)
    return q[0], k[0]


def score(dial):
    return read(dial.locator(".tb-key").nth(1).text_content().split()[-1])


def test_it_stands_on_its_page(page, site_url):
    visit(page, f"{site_url}book/attention.html")
    picture = page.locator(".tb-picture:has(.tb-face)")
    expect(picture.locator(".tb-face")).to_have_count(4)
    assert score(picture) == three_digits([np.dot(*turned(5, 2))])[0]


def test_the_table_holds_pythons_numbers(dial):
    dial.get_by_role("radio", name="Half-split").check()
    control(dial, "Move both on by").fill("17")
    dial.get_by_text("The numbers").click()
    expect(dial.locator("caption")).to_contain_text("Query at 22, key at 19")
    q, k = turned(22, 19, half_split=True)
    wanted = [three_digits(row) for row in zip(QUERY, KEY, q, k, q * k, strict=True)]
    assert [[read(cell) for cell in row] for row in table(dial)] == wanted


def test_the_keyboard_moves_both_and_the_score_stays(dial):
    before = score(dial)
    handle = control(dial, "Move both on by")
    handle.focus()
    for _ in range(5):
        handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "5")
    expect(dial.locator(".tb-spoken").nth(1)).to_contain_text("moved by 5")
    assert score(dial) == before


def test_the_keyboard_moves_the_query_and_the_score_follows(dial):
    handle = control(dial, "Query at m")
    handle.focus()
    handle.press("ArrowRight")
    expect(dial.locator(".tb-spoken").first).to_contain_text("query is at 6, the key at 2")
    assert score(dial) == three_digits([np.dot(*turned(6, 2))])[0]


def test_mixed_up_layouts_let_the_score_move(dial):
    dial.get_by_role("radio", name="Mixed up").check()
    before = score(dial)
    dial.get_by_role("button", name="Both one step on").click()
    expect(dial.locator(".tb-spoken").nth(1)).to_contain_text("distance alone no longer decides")
    assert score(dial) != before


def test_the_mouse_turns_a_clock(dial, page):
    face = dial.locator(".tb-face").first
    face.scroll_into_view_if_needed()
    box = face.bounding_box()
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 40
    page.mouse.move(x + r, y)
    page.mouse.down()
    for angle in np.linspace(0, 4, 9):
        page.mouse.move(x + r * np.cos(angle), y - r * np.sin(angle))
    page.mouse.up()
    expect(control(dial, "Move both on by")).to_have_value("4")


def test_the_mouse_drags_the_distance_and_the_shift(dial, page):
    for place, name, value in [(1, "Query at m", "32"), (2, "Move both on by", "100")]:
        chart = dial.locator(".tb-draggable").nth(place)
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 60, steps=3)
        page.mouse.up()
        expect(control(dial, name)).to_have_value(value)
    expect(control(dial, "Key at n")).to_have_value("0")


def test_a_learners_turn_is_drawn(page, site_url):
    (dial,) = show(page, site_url, RoPEDial(turn=rope_forward))
    expect(dial.locator(".tb-chart path.tb-line.tb-yours")).to_have_count(2)
    expect(dial.locator(".tb-key").nth(1)).to_contain_text("rope_forward")
