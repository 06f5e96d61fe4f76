"""The gradient-check dial in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from pictures import control, read, show, table, three_digits, tiles
from playwright.sync_api import expect

from transformer_block.gradcheck import numerical_gradient, relative_error
from transformer_block.widgets import GradCheckDial

pytestmark = pytest.mark.site

X = np.array([0.5, -1.5, 0.75])


def cubes(x):
    return np.sum(x**3)


@pytest.fixture
def dial(page, site_url):
    """The picture in a page, with a loss of its own whose gradient is known."""
    dial = GradCheckDial(loss=cubes, x=X, gradient=3 * X**2, case="yours", step=1e-3)
    return show(page, site_url, dial)[0]


def errors(step):
    """What Python's own check says at a step, in float64 and in float32."""
    losses = (lambda t: cubes(t), lambda t: cubes(t.astype(np.float32)))
    return three_digits(relative_error(numerical_gradient(f, X, step), 3 * X**2) for f in losses)


def test_it_opens_with_what_pythons_own_check_says(dial):
    assert tiles(dial) == errors(1e-3)
    expect(dial.get_by_role("radio", name="cubes")).to_be_checked()


def test_the_table_holds_pythons_numbers(dial):
    control(dial, "Step").fill("-4")
    dial.get_by_text("The numbers").click()
    expect(dial.locator("tbody th").first).to_have_text("now: 1e-4")
    rows = [[read(cell) for cell in row] for row in table(dial)]
    assert rows[0] == errors(1e-4)
    assert rows[1:] == [errors(10.0**power) for power in range(-12, 0)]


def test_the_keyboard_moves_the_step_and_the_sentence_follows(dial):
    handle = control(dial, "Step")
    handle.focus()
    for _ in range(10):
        handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "0.01")
    expect(dial.locator(".tb-spoken").first).to_contain_text("Truncation rules")
    assert tiles(dial) == errors(1e-2)


def test_the_digits_are_those_of_the_two_losses(dial):
    above, below = (cubes(X + step * np.array([0, 1, 0])) for step in (1.5e-3, -1.5e-3))
    shown = dial.locator(".tb-digit-block").first.locator(".tb-number").all_text_contents()
    assert [read(text) for text in shown[:2]] == pytest.approx([above, below], abs=1e-14)
    assert shown[2].startswith(f"{(above - below) / 3e-3:.5f}")


def test_the_mouse_drags_the_step(dial, page):
    chart = dial.locator(".tb-draggable")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] + 90, steps=4)
    page.mouse.up()
    expect(control(dial, "Step")).to_have_attribute("aria-valuetext", "1e-12")


def test_a_wrong_gradient_is_wrong_at_every_step(dial):
    dial.get_by_role("radio", name="A term forgotten").check()
    expect(dial.locator(".tb-spoken").first).to_contain_text("the gradient is wrong")
