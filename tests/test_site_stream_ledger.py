"""The stream ledger in a page: it draws and moves with no Python behind it."""

import numpy as np
import pytest
from browser import visit
from pictures import control, read, show, table, tiles
from playwright.sync_api import expect

from transformer_block.real_traces import load_real_trace
from transformer_block.tiny import load_tiny
from transformer_block.traces import logit_lens, top_tokens, trace_decoder
from transformer_block.widgets import StreamLedger

pytestmark = pytest.mark.site


@pytest.fixture
def tiny(page, site_url):
    """The tiny model's ledger in a page, light and wide."""
    return show(page, site_url, StreamLedger())[0]


@pytest.fixture
def real(page, site_url):
    """The real model's."""
    return show(page, site_url, StreamLedger("real"))[0]


def size(row):
    return float(np.sqrt(np.mean(np.square(row))))


def traced():
    """What Python computes for the story on the page: parts of every token, and the model."""
    params, config, tokenizer = load_tiny(dtype=np.float64)
    tokens = StreamLedger().runs[0]["tokens"]
    trace = trace_decoder(tokenizer.encode("".join(tokens)), params, config.n_heads)
    return np.concatenate([trace["stream"][:1], trace["writes"]]), params, tokenizer


def balance(sum_, stream):
    return [float(f"{size(row):.2f}") for row in (sum_, stream, stream - sum_)]


@pytest.mark.parametrize("name", ["residual_stream", "in_practice"])
def test_it_stands_on_its_pages_and_the_books_balance(page, site_url, name):
    visit(page, f"{site_url}book/{name}.html")
    picture = page.locator(".tb-picture", has_text="The sum is the stream")
    sum_, stream, difference = tiles(picture)
    assert sum_ == stream
    assert difference <= 0.01


def test_an_entry_that_is_left_out_is_missing_as_python_says(tiny):
    parts, params, tokenizer = traced()
    tiny.get_by_role("checkbox", name="Count the net of block 1").uncheck()
    left = parts[:4, -1].sum(axis=0)
    expect(tiny.locator(".tb-spoken").nth(1)).to_contain_text("The net of block 1 is left out")
    assert tiles(tiny) == balance(left, parts[:, -1].sum(axis=0))
    ids, chances = top_tokens(logit_lens(left, params), 1)
    words = tiny.locator(".tb-word").all_text_contents()
    assert words[0] == tokenizer.decode(ids)
    share = read(tiny.locator(".tb-share").first.text_content().removesuffix(" %"))
    assert share == pytest.approx(100 * chances[0], abs=0.06)


def test_the_table_holds_pythons_sizes_and_cosines(tiny):
    control(tiny, "Token").fill("20")
    tiny.get_by_text("The numbers").click()
    expect(tiny.locator("caption")).to_contain_text("Token 20")
    parts = traced()[0][:, 20]
    sums = np.cumsum(parts, axis=0)
    rows = table(tiny)
    assert [read(row[0]) for row in rows] == pytest.approx([size(p) for p in parts], rel=6e-3)
    assert [read(row[2]) for row in rows] == pytest.approx([size(s) for s in sums], rel=6e-3)
    wanted = [
        p @ s / (np.linalg.norm(p) * np.linalg.norm(s))
        for p, s in zip(parts[1:], sums, strict=False)
    ]
    assert [read(row[1]) for row in rows[1:]] == pytest.approx(wanted, rel=0.06, abs=1e-3)


def test_the_buttons_and_keys_switch_entries(tiny, page):
    tiny.get_by_role("button", name="Without attention").click()
    expect(tiny.locator(".tb-tile .tb-note").first).to_have_text("of 3 entries")
    expect(tiny.locator(".tb-word").first).to_have_text("h")  # as the page says
    tiny.get_by_role("button", name="Count all").click()
    box = tiny.get_by_role("checkbox")
    box.focus()
    page.keyboard.press("Space")
    expect(tiny.locator(".tb-tile .tb-note").first).to_have_text("of 4 entries")


def test_the_keyboard_walks_through_the_entries(tiny):
    handle = control(tiny, "Entry")
    handle.focus()
    handle.press("Home")
    expect(handle).to_have_attribute("aria-valuetext", "embedding")
    expect(tiny.locator(".tb-spoken").first).to_contain_text("the embedding is a row of size")


def test_the_mouse_chooses_a_cell_and_switches_a_row(tiny, page):
    chart = tiny.locator("svg.tb-map").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 88, box["y"] + 10)
    expect(control(tiny, "Token")).to_have_value("0")
    expect(control(tiny, "Entry")).to_have_value("0")
    rows = tiny.locator("svg.tb-map").nth(1)
    rows.scroll_into_view_if_needed()
    box = rows.bounding_box()
    page.mouse.click(box["x"] + 8, box["y"] + 34 + 34 + 17)
    expect(tiny.locator(".tb-spoken").nth(1)).to_contain_text(
        "The attention of block 0 is left out"
    )


def test_the_real_model_says_paris_with_its_stored_chance(real):
    trace = load_real_trace("fact")
    share = read(real.locator(".tb-share").first.text_content().removesuffix(" %"))
    assert share == pytest.approx(100 * trace["lens_probabilities"][-1, -1, 0], abs=0.06)
    expect(real.locator(".tb-word").first).to_have_text("Paris")


def test_without_its_last_net_the_real_model_says_capital(real):
    trace = load_real_trace("fact")
    real.get_by_role("checkbox").uncheck()
    expect(real.locator(".tb-word").first).to_have_text("capital")
    left = trace["stream"][0] + trace["writes"][:-1].sum(axis=0)
    assert tiles(real) == pytest.approx(balance(left, trace["stream"][-1]), abs=0.011)


def test_a_token_without_vectors_cannot_be_switched(real):
    control(real, "Token").fill("1")
    expect(real.get_by_role("checkbox")).to_be_disabled()
    expect(real.locator(".tb-spoken").nth(1)).to_contain_text("no vectors of this token")
