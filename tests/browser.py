"""A server, a browser and an eye on both, for the tests of the built book and for its pictures."""

import os
import shutil
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "_build" / "html"
PREFIX = "/a/b/course/"  # not the root of the server: the book must not care where it stands

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # milliseconds; a busy machine is no fault of the book

# Without these Chromium calls its makers at every start, and it cannot start as root.
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the network is cut
]

WIDGETS_ARE_DRAWN = """() => {
    const views = document.querySelectorAll('script[type$="jupyter.widget-view+json"]');
    return [...views].every((view) => view.parentElement.querySelector('.widget-subarea > *'));
}"""


def built_book():
    """Find the built book, or say how it is made."""
    if not (BOOK / "index.html").exists():
        raise FileNotFoundError("The book is not built. Run: make book")
    return BOOK


def find_chromium():
    """Find the browser: $CHROMIUM, or the first of its usual names."""
    named = os.environ.get("CHROMIUM")
    program = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileNotFoundError(
            "Chromium is not here. Run: sudo apt install chromium, or set CHROMIUM=/its/path"
        )
    return program


class _Handler(SimpleHTTPRequestHandler):
    """Serve a folder under the prefix, and nothing outside it."""

    def translate_path(self, path):
        inside = path.removeprefix(PREFIX) if path.startswith(PREFIX) else "\0"
        return super().translate_path("/" + inside)

    def send_head(self):
        if not self.path.startswith(PREFIX):
            self.send_error(404)
            return None
        return super().send_head()

    def log_message(self, *_):
        """Stay silent."""


@contextmanager
def serving(folder):
    """Serve a folder on a free port of this machine; gives the address of its first page."""
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def browsing():
    """Start one headless Chromium."""
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS + sandbox)
        yield browser
        browser.close()


@contextmanager
def watched_page(browser, site_url, *, width=1280, height=900, scheme="light", **options):
    """Open an empty tab that reaches the book only.

    Gives the tab and a list that grows by one sentence for each request to another origin, each
    answer that is an error, each error on the console and each uncaught exception.
    """
    # The book's service worker would fetch what a new tab has just fetched a second time.
    options.setdefault("service_workers", "block")
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, **options
    )
    context.set_default_timeout(PATIENCE)
    troubles = []

    # Only listening: to hold each request up and let it go on takes time, and the cache away.
    def guard(request):
        if not request.url.startswith((site_url, "data:", "blob:")):
            troubles.append(f"request to another place: {request.url}")

    context.on("request", guard)
    page = context.new_page()
    page.on("console", lambda m: m.type == "error" and troubles.append(f"console: {m.text}"))
    page.on("pageerror", lambda error: troubles.append(f"exception: {error}"))
    page.on(
        "response", lambda r: r.status >= 400 and troubles.append(f"answer {r.status}: {r.url}")
    )
    try:
        yield page, troubles
    finally:
        context.close()


def visit(page, url):
    """Go to a page and wait until every widget on it is drawn."""
    page.goto(url)
    page.wait_for_function(WIDGETS_ARE_DRAWN)
