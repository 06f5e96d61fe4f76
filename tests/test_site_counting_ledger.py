"""The counting ledger in the built page: it counts with no Python behind it, and counts alike."""

from dataclasses import replace

import pytest
from browser import visit
from playwright.sync_api import expect
from test_site_widgets import contrast

from transformer_block.config import published_models
from transformer_block.counting import count_parameters, total_parameters
from transformer_block.flops import token_flops

pytestmark = pytest.mark.site

MODELS = published_models()
LLAMA = MODELS["LLaMA-1/2 7B"]  # what the page opens with, at T = 4096


@pytest.fixture
def ledger(page, site_url):
    """The picture on its page, light and wide."""
    return on_page(page, site_url)


def on_page(page, site_url):
    visit(page, f"{site_url}book/counting.html")
    return page.locator(".tb-picture").first


def slider(ledger, name):
    return ledger.get_by_role("slider", name=name, exact=True)


def notes(ledger):
    return ledger.locator(".tb-tile .tb-note").all_text_contents()


def shown(config):
    """The notes under the tiles, from the library."""
    total = total_parameters(config)
    return [f"{total:,}", f"6N is {6 * total:,}", "of these FLOPs"]


def test_it_opens_with_three_charts_and_the_library_s_numbers(ledger):
    expect(ledger.locator("svg.tb-chart")).to_have_count(3)
    assert notes(ledger) == shown(LLAMA)


@pytest.mark.parametrize("name", ["GPT-2 small", "Gemma-1 7B"])
def test_a_published_model_is_counted_to_the_last_digit(ledger, name):
    ledger.get_by_role("button", name=name).click()
    expect(ledger.locator(".tb-spoken").first).to_contain_text(f"{name} has ")
    assert notes(ledger) == shown(MODELS[name])
    ledger.get_by_text("The numbers").click()
    cells = ledger.locator("td").all_text_contents()
    parts = count_parameters(MODELS[name])
    exact = int(token_flops(MODELS[name], 4096, work="training"))
    for number in (parts["net"], parts["embedding"], exact):
        assert f"{number:,}" in cells


def test_the_keyboard_moves_a_slider_and_the_sentence_follows(ledger):
    handle = slider(ledger, "layers L")
    handle.focus()
    handle.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuetext", "31")
    total = total_parameters(replace(LLAMA, n_layers=31))
    expect(ledger.locator(".tb-spoken").first).to_contain_text(f"{total:,} parameters")
    assert notes(ledger) == shown(replace(LLAMA, n_layers=31))


def test_the_mouse_ties_the_head(ledger):
    ledger.get_by_text("the head is tied").click()
    expect(ledger.get_by_role("checkbox")).to_be_checked()
    assert notes(ledger) == shown(replace(LLAMA, tied_embeddings=True))


def test_the_context_moves_the_flops_and_no_parameter(ledger):
    slider(ledger, "context T").fill("17")
    cost = ledger.locator(".tb-spoken").nth(1)
    expect(cost).to_contain_text("at T = 131,072")
    expect(cost).to_contain_text("one half at T = 25,204")
    assert notes(ledger) == shown(LLAMA)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_stand_out_from_the_parts_that_carry_them(page, site_url, scheme):
    page.emulate_media(color_scheme=scheme)
    ledger = on_page(page, site_url)
    for kind in ("attention", "net"):
        part, name = (
            ledger.locator(f".{of}.tb-{kind}").first.evaluate("node => getComputedStyle(node).fill")
            for of in ("tb-bar", "tb-in")
        )
        assert contrast(part, name) >= 4.5


def test_paper_says_that_the_head_is_tied_only_where_it_is(ledger, page):
    page.emulate_media(media="print")
    tied = ledger.get_by_text("the head is tied")
    expect(tied).to_be_hidden()
    page.emulate_media(media="screen")
    tied.click()
    page.emulate_media(media="print")
    expect(tied).to_be_visible()
