"""Sheets in JupyterLite, in Chromium: opened from their pages, checked, drawn, kept, taken home.

Python takes half a minute to start there, so one tab goes through all of it, test after test.
"""

import json
from urllib.parse import urlsplit

import nbformat
import pytest
from bookext.sheets import name_in_browser
from browser import PREFIX, ROOT, visit, watched_page
from playwright.sync_api import expect

from grader.collecting.candidates import answer_ids

pytestmark = pytest.mark.site

FIRST = 100_000  # milliseconds until Python has started on a busy machine
SHEETS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RMSNORM = ROOT / "notebooks/rmsnorm.ipynb"
WRONG = """def rmsnorm_forward(x, weight, eps=1e-5):
    r = 1 / (np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) + eps)
    return x * r * weight, (x, weight, r, x * r)
"""
RIGHT = "from transformer_block.rmsnorm import rmsnorm_forward"
# JupyterLite's own service worker answers this, and nothing leaves the browser.
HEARTBEAT = "/api/service-worker-heartbeat"


class Lab:
    """JupyterLite with a sheet, as a learner uses it."""

    def __init__(self, page, site_url, troubles):
        self.page, self.site_url, self.all_troubles = page, site_url, troubles

    def troubles(self):
        return [sentence for sentence in self.all_troubles if not sentence.endswith(HEARTBEAT)]

    def command(self, name):
        """Give JupyterLab a command, without waiting for its end."""
        self.page.evaluate("name => void jupyterapp.commands.execute(name)", name)

    def come(self):
        """Open the sheet as learners do, from its page."""
        visit(self.page, f"{self.site_url}book/rmsnorm.html")
        self.page.get_by_role("link", name="Work it in the browser").click()
        expect(self.page.locator(".jp-Notebook .jp-CodeCell").first).to_be_visible()
        self.page.wait_for_function(
            "jupyterapp.shell.currentWidget?.sessionContext?.isReady", timeout=FIRST
        )

    def go_to(self, cell):
        """Make the cell with this id the active one."""
        index = next(
            i for i, c in enumerate(json.loads(RMSNORM.read_bytes())["cells"]) if c["id"] == cell
        )
        self.page.evaluate(
            "i => { jupyterapp.shell.currentWidget.content.activeCellIndex = i }", index
        )

    def write(self, code):
        self.page.evaluate(
            "text => jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel"
            ".setSource(text)",
            code,
        )

    def run(self):
        """Run the active cell; return what it prints, once it has ended."""
        self.command("notebook:run-cell")
        cell = self.page.locator(".jp-Notebook .jp-CodeCell.jp-mod-active")
        return cell.locator(".jp-OutputArea").first

    def add(self, code):
        """Write code into a new cell below, and run it."""
        self.command("notebook:insert-cell-below")
        self.write(code)
        return self.run()


@pytest.fixture(scope="module")
def lab(chromium, site_url):
    with watched_page(chromium, site_url, service_workers="allow") as (page, troubles):
        lab = Lab(page, site_url, troubles)
        lab.come()
        yield lab


def test_every_sheet_is_opened_from_its_page(page, site_url):
    visit(page, f"{site_url}book/exercises.html")
    for sheet in SHEETS:
        link = page.get_by_role("link", name=f"in the browser: {sheet.stem}", exact=True)
        assert link.evaluate("a => a.href").endswith(f"path={name_in_browser(sheet)}")
        served = page.request.get(f"{site_url}lite/files/{name_in_browser(sheet)}")
        assert served.body() == sheet.read_bytes()


def test_the_first_cell_says_that_all_is_in_place(lab):
    lab.go_to("rmsnorm-setup-1")
    expect(lab.run()).to_have_text("Python 3.12.7, NumPy 2.0.2: ready.", timeout=FIRST)


def test_an_answer_is_checked_in_the_words_of_the_sheet(lab):
    lab.go_to("rmsnorm_forward")
    lab.write(WRONG)
    lab.run()
    lab.go_to("rmsnorm_forward-eps")
    output = lab.run()
    expect(output).to_contain_text("Is your ε inside the square root")
    expect(output).not_to_contain_text("Traceback")
    lab.go_to("rmsnorm_forward")
    lab.write(RIGHT)
    lab.run()
    lab.go_to("rmsnorm_forward-eps")
    expect(lab.run()).to_contain_text("✓")


def test_a_figure_and_both_kinds_of_widgets_are_drawn(lab):
    lab.go_to("rmsnorm_forward-eps")
    figure = lab.add("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    expect(figure.get_by_role("img")).to_be_visible(timeout=FIRST)
    scope = lab.add("from transformer_block.widgets import RMSNormScope\nRMSNormScope()")
    expect(scope.get_by_role("slider").first).to_be_visible()
    slider = lab.add("import ipywidgets\nipywidgets.IntSlider(description='steps')")
    expect(slider.get_by_role("slider")).to_be_visible()


def test_the_work_is_downloaded_under_the_name_of_the_sheet(lab):
    with lab.page.expect_download() as download:
        lab.page.get_by_role("button", name="Download my notebook").click()
    assert download.value.suggested_filename == "rmsnorm.ipynb"
    notebook = nbformat.read(download.value.path(), as_version=4)
    nbformat.validate(notebook)
    assert RIGHT in [cell.source for cell in notebook.cells]
    taken = download.value.path().read_bytes()
    assert answer_ids(taken) == answer_ids(RMSNORM.read_bytes())


def test_the_work_is_there_when_the_learner_comes_again(lab):
    lab.come()
    expect(lab.page.get_by_text(RIGHT)).to_be_visible()


def test_another_version_of_a_sheet_is_told_and_takes_nothing_away(lab):
    earlier, newest = "rmsnorm-v000000.ipynb", name_in_browser(RMSNORM)
    lab.page.evaluate(
        # What the browser keeps goes to the other name, and the course's own comes to light again.
        "([from, to]) => jupyterapp.serviceManager.contents.rename(from, to)",
        [newest, earlier],
    )
    lab.come()
    expect(lab.page.get_by_text(f"Your earlier work is in {earlier}")).to_be_visible()
    expect(lab.page.get_by_text(RIGHT)).to_be_hidden()
    lab.page.get_by_role("button", name="Open it").click()
    expect(lab.page.get_by_text("The course has a newer version of this sheet")).to_be_visible()
    expect(lab.page.get_by_text(RIGHT)).to_be_visible()


def test_its_service_worker_is_its_own_and_the_book_keeps_another(lab):
    found = lab.page.evaluate("""async () => ({
        here: navigator.serviceWorker.controller.scriptURL,
        all: (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
    })""")
    assert found["here"].startswith(f"{lab.site_url}lite/")
    assert {f"{lab.site_url}book/", f"{lab.site_url}lite/"} <= set(found["all"])


def test_on_a_phone_the_list_of_files_gives_way_to_the_sheet(chromium, site_url):
    with watched_page(chromium, site_url, width=375) as (page, _):
        page.goto(f"{site_url}lite/lab/index.html?path={name_in_browser(RMSNORM)}")
        heading = page.locator(".jp-Notebook h1").first
        page.wait_for_function("h1 => h1.offsetWidth > 200", arg=heading.element_handle())
        expect(page.locator(".jp-FileBrowser")).to_be_hidden()


def test_nobody_else_is_asked_and_nothing_has_gone_wrong(lab):
    assert urlsplit(lab.page.url).path.startswith(f"{PREFIX}lite/")
    assert lab.troubles() == []
