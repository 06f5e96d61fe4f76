"""What the tests of the built book share: a server, a browser, and tabs that are watched."""

import sys
from contextlib import ExitStack

import browser
import pytest
from playwright.sync_api import expect

expect.set_options(timeout=browser.PATIENCE)
sys.path.insert(0, str(browser.ROOT / "book" / "_ext"))


@pytest.fixture(scope="session")
def site_url():
    """Address of the built book, served under a path of its own."""
    try:
        folder = browser.built_book()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    with browser.serving(folder) as url:
        yield url


@pytest.fixture(scope="session")
def chromium():
    """One headless Chromium for all tests."""
    try:
        browser.find_chromium()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    with browser.browsing() as running:
        yield running


@pytest.fixture
def new_page(chromium, site_url):
    """Open tabs: ``new_page(width=375, scheme="dark")``.

    The test fails at its end if a tab asked another origin for anything, got an error, or wrote
    one to its console.
    """
    troubles = []
    with ExitStack() as tabs:

        def open_tab(**options):
            page, noted = tabs.enter_context(browser.watched_page(chromium, site_url, **options))
            troubles.append(noted)
            return page

        yield open_tab
    found = [sentence for noted in troubles for sentence in noted]
    assert not found, "\n".join(found)


@pytest.fixture
def page(new_page):
    """One tab, 1280 pixels wide, light."""
    return new_page()
