"""Code that runs on the page, in Chromium: first result, figure, check, Stop, work that stays."""

import re

import nbformat
import pytest
from accessibility import violations
from browser import visit, watched_page
from playwright.sync_api import expect

pytestmark = pytest.mark.site

FIRST = 120_000  # milliseconds until Python has started on a busy machine
WRONG = """def rmsnorm_forward(x, weight, eps=1e-5):
    r = 1 / (np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) + eps)
    return x * r * weight, (x, weight, r, x * r)
"""
REFUSE = """for (const name of ["localStorage", "sessionStorage", "indexedDB"])
    Object.defineProperty(window, name, {
        get() { throw new DOMException("refused", "SecurityError"); },
    });"""
RIGHT = """from transformer_block.rmsnorm import rmsnorm_forward"""


class Cell:
    """The first cell of a page, as a reader uses it."""

    def __init__(self, page):
        self.page, self.root = page, page.locator(".run").first
        self.editor = self.root.get_by_role("textbox")
        self.status, self.output = self.root.get_by_role("status"), self.root.locator(".run-output")

    def write(self, code):
        self.editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def press(self, name):
        self.root.get_by_role("button", name=name, exact=True).click()

    def ends(self, said):
        expect(self.status).to_have_text(said, timeout=FIRST)
        return self.output.inner_text() if self.output.is_visible() else ""


@pytest.fixture
def cell(page, site_url):
    visit(page, f"{site_url}book/rmsnorm.html")
    return Cell(page)


def test_an_answer_is_checked_in_the_words_of_the_sheet(cell):
    cell.press("Check")
    assert "rmsnorm_forward is not written yet" in cell.ends("Not yet: see below.")
    cell.write(WRONG)
    cell.press("Check")
    assert "Is your ε inside the square root" in cell.ends("Not yet: see below.")
    cell.write(RIGHT)
    cell.press("Check")
    assert "rmsnorm_forward" in cell.ends("Done.")
    expect(cell.output).to_have_class(re.compile("run-right"))
    cell.press("Run")
    cell.ends("Done.")
    expect(cell.output).not_to_have_class(re.compile("run-right"))


def test_what_the_first_cell_of_the_sheet_imports_is_there(page, site_url):
    visit(page, f"{site_url}book/residual_stream.html")
    cell = Cell(page)
    cell.write("rmsnorm_forward(np.array([3.0, 4.0]), np.ones(2), 0.0)[0].round(3)")
    cell.press("Run")
    assert cell.ends("Done.").strip() == "array([0.849, 1.131])"
    with page.expect_download() as download:
        cell.press("Save as notebook")
    notebook = nbformat.read(download.value.path(), as_version=4)
    assert "import rmsnorm_backward, rmsnorm_forward" in notebook.cells[0].source


def test_what_code_prints_draws_and_raises_is_shown(cell):
    cell.write("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('hello')\n6 * 7")
    cell.page.keyboard.press("Control+Enter")
    assert cell.ends("Done.").split() == ["hello", "42"]
    figure = cell.output.get_by_role("img")
    assert figure.evaluate("node => node.complete && node.naturalWidth > 200")
    cell.write("def half(x):\n    return x / 0\n\nhalf(1)")
    cell.page.keyboard.press("Shift+Enter")
    said = cell.ends("Not yet: see below.")
    assert said.strip().endswith("ZeroDivisionError: division by zero")
    assert re.findall(r"line (\d)", said) == ["4", "2"]
    assert "course" not in said


def test_a_loop_without_end_is_stopped_and_python_starts_again(cell):
    cell.write("print('begun')\nwhile True:\n    pass")
    cell.press("Run")
    expect(cell.status).to_have_text("Running…", timeout=FIRST)
    cell.press("Stop")
    expect(cell.status).to_contain_text("Stopped.")
    cell.write("print('again')")
    cell.press("Run")
    assert cell.ends("Done.").strip() == "again"


def test_work_stays_after_a_reload_until_it_is_reset(cell):
    stub = "def rmsnorm_forward(x, weight, eps=1e-5):"  # the editor draws the lines in view only
    cell.write("mine = 1")
    cell.page.reload()
    assert cell.editor.inner_text() == "mine = 1"
    cell.press("Run")
    cell.ends("Done.")
    cell.write("mine")
    cell.press("Run")
    assert cell.ends("Done.").strip() == "1"
    cell.press("Reset")
    expect(cell.editor).to_contain_text(stub)
    expect(cell.output).to_be_hidden()  # what the old text printed would belong to no code
    cell.page.reload()
    expect(cell.editor).to_contain_text(stub)


def test_a_browser_that_keeps_nothing_runs_the_cell_and_says_so(chromium, site_url):
    with watched_page(chromium, site_url) as (page, _):  # the theme's own script complains
        page.add_init_script(REFUSE)
        visit(page, f"{site_url}book/rmsnorm.html")
        cell = Cell(page)
        cell.write("mine = 1")
        expect(cell.status).to_contain_text("This browser keeps nothing here")
        assert cell.editor.inner_text() == "mine = 1"


def test_a_newer_text_is_offered_and_takes_nothing_away(cell):
    cell.write("mine = 1")
    key = "transformer-block/run/1/rmsnorm/rmsnorm_forward"
    cell.page.evaluate(
        "key => localStorage.setItem(key, JSON.stringify({source: 'mine = 1', version: 'old'}))",
        key,
    )
    cell.page.reload()
    assert cell.editor.inner_text() == "mine = 1"
    expect(cell.root).to_contain_text("The book has a newer text for this cell")
    cell.root.get_by_role("button", name="Keep mine").press("Enter")
    expect(cell.editor).to_be_focused()
    cell.page.reload()
    assert cell.editor.inner_text() == "mine = 1"
    expect(cell.root).not_to_contain_text("newer text")


def test_a_cell_is_saved_as_a_notebook(cell):
    cell.write("mine = 1")
    with cell.page.expect_download() as download:
        cell.press("Save as notebook")
    notebook = nbformat.read(download.value.path(), as_version=4)
    nbformat.validate(notebook)
    assert [c.source for c in notebook.cells][1:] == ["mine = 1", "check(rmsnorm_forward)"]


def test_keys_enter_and_leave_the_editor(cell):
    cell.editor.focus()
    cell.page.keyboard.press("Escape")
    cell.page.keyboard.press("Tab")
    expect(cell.root.get_by_role("button", name="Run", exact=True)).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_cell_with_output_is_accessible_and_fits_a_phone(new_page, site_url, scheme):
    page = new_page(width=320, scheme=scheme)
    visit(page, f"{site_url}book/rmsnorm.html")
    cell = Cell(page)
    cell.write("print('x' * 300)\n1 / 0")
    cell.press("Run")
    cell.ends("Not yet: see below.")
    assert not violations(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_without_a_script_and_on_paper_it_is_a_block_of_code(page, site_url):
    visit(page, f"{site_url}book/rmsnorm.html")
    page.emulate_media(media="print")
    root = page.locator(".run").first
    expect(root.locator("pre").first).to_be_visible()
    expect(root.locator(".run-live")).to_be_hidden()
