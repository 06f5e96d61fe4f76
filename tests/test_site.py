"""The built book as readers meet it: in a browser, under a path of its own, cut off the network."""

import gzip
import re
from collections import namedtuple
from urllib.parse import urldefrag

import pytest
from accessibility import violations
from browser import visit, watched_page
from pages import page_names
from playwright.sync_api import expect

pytestmark = pytest.mark.site

PAGES = page_names()
MOST_BYTES = 1_500_000  # compressed; scripts that pages share are not counted
HASH = re.compile(r"[0-9a-f]{16,}")

Opened = namedtuple("Opened", "name page troubles")
chapters_only = pytest.mark.parametrize("opened", PAGES, indirect=True)


@pytest.fixture(scope="module", params=[*PAGES, "search", "book/offline"])
def opened(chromium, site_url, request):
    """Open each page once, for the tests that look at it and leave it as it was."""
    with watched_page(chromium, site_url, reduced_motion="reduce") as (page, troubles):
        visit(page, f"{site_url}{request.param}.html")
        yield Opened(request.param, page, troubles)


def test_a_page_asks_nobody_else_and_meets_no_error(opened):
    assert opened.troubles == []


@chapters_only
def test_a_page_with_its_pictures_stays_small(opened):
    whole = opened.page.request.get(opened.page.url).body()
    assert len(gzip.compress(whole)) < MOST_BYTES


@chapters_only
def test_a_page_has_one_first_heading_and_says_it_in_its_title(opened):
    headings = opened.page.locator("article h1")
    expect(headings).to_have_count(1)
    heading = headings.evaluate("h1 => h1.firstChild.textContent.trim()")
    assert opened.page.title().startswith(heading)
    assert opened.page.title().endswith("The Transformer Block")


@chapters_only
def test_formulas_are_rendered_and_none_is_left_as_source(opened):
    source = opened.page.evaluate("""() => {
        const copy = document.querySelector("article").cloneNode(true);
        copy.querySelectorAll("pre, code, .katex, script, style").forEach((part) => part.remove());
        return copy.textContent;
    }""")
    assert "$" not in source
    assert re.findall(r"\\[A-Za-z]+", source) == []
    formulas = opened.page.locator(".math")
    for kind in (".katex-html", "math"):
        assert opened.page.locator(f".math {kind}").count() == formulas.count()
    assert opened.page.locator(".katex-error").count() == 0


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_no_page_scrolls_sideways(opened, width):
    opened.page.set_viewport_size({"width": width, "height": 900})
    # Widgets draw themselves again for the new width, so wait for the last of them.
    opened.page.wait_for_function(
        "width => document.documentElement.scrollWidth <= width", arg=width
    )


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(opened, width, scheme):
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    expect(opened.page.locator("html")).to_have_attribute("data-theme", scheme)
    assert violations(opened.page) == []


def test_every_link_inside_the_book_leads_to_a_place_that_exists(opened, site_url):
    links = opened.page.eval_on_selector_all("a[href]", "links => links.map((a) => a.href)")
    inside = {link for link in links if link.startswith(site_url)}
    assert inside, "a page without any link is not a page of the book"
    anchors = {
        address: _anchors(opened.page, address)
        for address in {urldefrag(link).url for link in inside}
    }
    wanted = [urldefrag(link) for link in inside]
    assert [link for link in wanted if link.fragment not in anchors[link.url] | {""}] == []


def _anchors(page, address):
    answer = page.request.get(address)
    assert answer.ok, address
    return set(re.findall(r"""\bid=["']?([^"'\s>]+)""", answer.text()))


def test_every_picture_says_what_it_shows(opened):
    for picture in opened.page.locator("img").all():
        text = picture.get_attribute("alt")
        assert text is not None, picture.get_attribute("src")
        assert not HASH.search(text), text


def test_the_widget_loader_is_read_on_pages_with_widgets_only(opened):
    has_widgets = opened.page.locator("script[type$='widget-view+json']").count() > 0
    assert (opened.page.locator("script[src*='embed-amd']").count() > 0) == has_widgets


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_without_scripts(new_page, site_url, name):
    page = new_page(java_script_enabled=False)
    page.goto(f"{site_url}{name}.html")
    expect(page.locator("article h1")).to_be_visible()
    assert page.locator(".katex-html").count() == page.locator(".math").count()


def test_an_equation_shows_its_number_and_references_lead_to_it(page, site_url):
    visit(page, f"{site_url}book/rmsnorm.html")
    equation = page.locator("[id='equation-eq-rmsnorm-backward']")
    expect(equation.locator(".eqno")).to_have_text(re.compile(r"^\(22\.3\)"))
    references = page.locator("a[href$='#equation-eq-rmsnorm-backward']:not(.headerlink)")
    assert set(references.all_text_contents()) == {"(22.3)"}


def test_the_first_address_leads_to_the_first_page(page, site_url):
    front = page.request.get(site_url).text()
    assert 'rel="icon"' in front  # without one, a browser asks the server's root for it
    page.goto(site_url)
    page.wait_for_url(f"{site_url}{PAGES[0]}.html")


def test_a_search_quotes_a_formula_once_and_no_latex(page, site_url):
    page.goto(f"{site_url}search.html?q=softmax")
    quoted = page.locator("#search-results p.context", has_text="Take any number")
    expect(quoted.first).to_contain_text("Take any number c away from a row")
    assert "\\displaystyle" not in page.locator("#search-results").inner_text()


def test_the_search_page_finds_a_page_by_a_word_on_it(page, site_url):
    page.goto(f"{site_url}search.html?q=RMSNorm")
    page.locator("#search-results a[href*='book/rmsnorm.html']").first.click()
    expect(page.locator("article h1")).to_contain_text("RMSNorm")


def test_the_page_before_and_after_make_one_path_through_the_book(page, site_url):
    visit(page, f"{site_url}{PAGES[0]}.html")
    for name in PAGES[1:]:
        page.locator("a.right-next").click()
        page.wait_for_url(f"{site_url}{name}.html")


def test_the_reader_can_choose_the_dark_page(page, site_url):
    visit(page, f"{site_url}{PAGES[0]}.html")
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "light")
    page.locator("button.theme-switch-button").click()
    expect(html).to_have_attribute("data-theme", "dark")


def test_what_scrolls_sideways_is_reached_with_the_keyboard(new_page, site_url):
    page = new_page(width=320)
    visit(page, f"{site_url}book/rmsnorm.html")
    listing = page.locator("#listing-rmsnorm-forward pre")
    assert listing.evaluate("pre => pre.scrollWidth > pre.clientWidth")
    expect(listing).to_have_attribute("tabindex", "0")


def test_a_table_of_sentences_stands_in_rows_on_a_phone(new_page, site_url):
    page = new_page(width=320)
    visit(page, f"{site_url}book/instructors.html")
    table = page.get_by_role("table").filter(has_text="matter")
    assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
    expect(table.get_by_role("columnheader")).to_have_count(4)  # as a table, to those who hear it
    cell = table.locator("tbody tr").first.locator("td").nth(1)
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == '"nbgrader"'
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(cell).to_have_css("display", "table-cell")


def test_the_sentences_of_a_check_do_not_run_out_of_sight(new_page, site_url):
    page = new_page(width=320)
    visit(page, f"{site_url}book/how_to.html")
    sentences = page.locator(".output pre", has_text="rmsnorm_forward")
    assert sentences.evaluate("pre => pre.scrollWidth <= pre.clientWidth")


STOP = """() => {
    const stop = document.activeElement;
    const words = [...(stop.labels ?? []), stop].map((part) => part.textContent).join("");
    const heard = words + (stop.querySelector("img")?.alt ?? "");
    const { top, bottom, width } = stop.getBoundingClientRect();
    const rings = [stop, stop.closest("label, .cm-editor")].filter(Boolean).map(getComputedStyle);
    return {
        what: stop.outerHTML.slice(0, 150),
        ends: stop === document.body,
        first: stop.closest("#pst-skip-link") !== null,
        named: Boolean(stop.ariaLabel || stop.getAttribute("aria-labelledby") || heard.trim()),
        seen: width > 0 && bottom > 0 && top < innerHeight,
        ringed: rings.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none"),
    };
}"""


def test_tab_goes_through_a_page_and_every_stop_is_named_seen_and_ringed(new_page, site_url):
    page = new_page(reduced_motion="reduce")
    visit(page, f"{site_url}book/swiglu.html")
    stops = []
    while True:
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop["ends"]:
            break
        stops.append(stop)
        assert len(stops) < 400, "a trap"
        page.keyboard.press("Escape")  # so that Tab leaves an editor
    assert stops[0]["first"]
    found = [stop for stop in stops[1:] if not all(stop[w] for w in ("named", "seen", "ringed"))]
    assert found == []
