"""The book without a network: one reader's tab, first with the server, then without it."""

import os
import shutil
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from accessibility import violations
from browser import BOOK, serving, visit, watched_page
from playwright.sync_api import expect

pytestmark = pytest.mark.site

FIRST = 120_000  # milliseconds until Python has started on a busy machine
# Playwright takes the promise of a "no" for a yes, so the page itself asks again.
KEPT = """async (url) => {
    while (!(await caches.match(url))) await new Promise((again) => setTimeout(again, 50));
}"""
GONE = """async (name) => {
    while (await caches.has(name)) await new Promise((again) => setTimeout(again, 50));
}"""
CACHES = """async () => Object.fromEntries(await Promise.all((await caches.keys()).map(
    async (name) => [name, (await (await caches.open(name)).keys()).map(({ url }) => url)])))"""


@pytest.fixture(scope="module")
def reader(chromium, tmp_path_factory):
    """A tab on a copy of the book whose server can be stopped and whose pages can be changed."""
    folder = tmp_path_factory.mktemp("offline") / "book"
    leave_out = shutil.ignore_patterns("lite")
    shutil.copytree(BOOK, folder, copy_function=os.symlink, ignore=leave_out)
    with ExitStack() as server:
        url = server.enter_context(serving(folder))
        with watched_page(chromium, url, service_workers="allow") as (page, troubles):
            yield SimpleNamespace(
                folder=folder, url=url, page=page, troubles=troubles, stop=server.close
            )


def check(page):
    """Press Check in the first cell of a page; return what it says."""
    cell = page.locator(".run").first
    cell.get_by_role("button", name="Check", exact=True).click()
    expect(cell.get_by_role("status")).to_have_text("Not yet: see below.", timeout=FIRST)
    return cell.locator(".run-output").inner_text()


def test_what_is_read_is_kept(reader):
    visit(reader.page, f"{reader.url}book/rmsnorm.html")
    for name in ("book/rmsnorm.html", "book/offline.html", "search.html"):
        reader.page.evaluate(KEPT, reader.url + name)
    assert "is not written yet" in check(reader.page)
    visit(reader.page, f"{reader.url}book/swiglu.html")


def change(file, old, new):
    """Write a file anew; it was a link to the book's own."""
    text = file.read_text("utf-8").replace(old, new)
    file.unlink()
    file.write_text(text, "utf-8")


def test_a_changed_page_is_seen_at_the_next_visit(reader):
    change(reader.folder / "book/rmsnorm.html", "<h1>RMSNorm", "<h1>RMSNorm, built again")
    visit(reader.page, f"{reader.url}book/rmsnorm.html")
    expect(reader.page.locator("article h1")).to_contain_text("RMSNorm, built again")


def test_another_version_of_the_worker_forgets_what_the_one_before_kept(reader):
    earlier = f"transformer-block-book {reader.url} pages 0"
    reader.page.evaluate("name => caches.open(name).then(() => {})", earlier)
    change(reader.folder / "offline-worker.js", "clients.claim()", "clients.claim( )")
    reader.page.reload()
    reader.page.evaluate(GONE, earlier)
    assert reader.troubles == []


def test_only_whole_answers_of_the_book_are_kept(reader):
    missing = f"{reader.url}book/nothing.html"
    assert reader.page.evaluate("url => fetch(url).then(({ status }) => status)", missing) == 404
    kept = reader.page.evaluate(CACHES)
    assert sorted(name.split()[2] for name in kept) == ["files", "pages", "python"]
    urls = [url for urls in kept.values() for url in urls]
    assert all(url.startswith(reader.url) for url in urls)
    assert missing not in urls


def test_without_the_server_both_pages_are_there_and_their_pictures_move(reader):
    reader.troubles.clear()
    reader.stop()
    reader.page.context.set_offline(True)
    for name in ("rmsnorm", "swiglu"):
        visit(reader.page, f"{reader.url}book/{name}.html")
        slider = reader.page.get_by_role("slider").first
        before = slider.input_value()
        slider.press("ArrowRight")
        assert slider.input_value() != before
    assert reader.troubles == []


def test_a_page_that_was_never_read_is_told_in_the_books_own_look(reader):
    reader.page.goto(f"{reader.url}book/stack.html")
    expect(reader.page.get_by_role("heading", level=1)).to_have_text("Out of reach")
    told = reader.page.locator("article").first
    expect(told).to_contain_text("has not been opened in this browser before")
    assert violations(reader.page) == []
    assert reader.troubles == []


def test_the_button_forgets_what_is_kept_says_so_and_keeps_the_focus(new_page, site_url):
    page = new_page(service_workers="allow")
    visit(page, f"{site_url}book/how_to.html")
    page.evaluate(KEPT, f"{site_url}book/offline.html")
    page.evaluate(KEPT, f"{site_url}search.html")
    page.locator("details", has=page.locator("#forget-kept")).locator("summary").press("Enter")
    button = page.get_by_role("button", name="Forget the kept pages")
    button.press("Enter")
    told = page.get_by_role("status").filter(has_text="Forgotten")
    expect(told).to_be_visible()
    expect(button).to_be_focused()
    assert page.evaluate(CACHES) == {}


def test_the_search_works_without_the_server(reader):
    reader.page.goto(f"{reader.url}search.html?q=RMSNorm")
    reader.page.locator("#search-results a[href*='book/rmsnorm.html']").first.click()
    expect(reader.page.locator("article h1")).to_contain_text("RMSNorm")
    assert reader.troubles == []


def test_python_runs_without_the_server(reader):
    visit(reader.page, f"{reader.url}book/rmsnorm.html")
    assert "is not written yet" in check(reader.page)
    assert reader.troubles == []
