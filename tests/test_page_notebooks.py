"""Pages as notebooks: nothing of the book's own language is left in them, and all of it runs."""

import re
from pathlib import Path

import nbformat
import pytest
from bookext import page_notebooks
from browser import ROOT
from nbclient import NotebookClient

BOOK = ROOT / "book"
ALL = sorted(BOOK.glob("*.md"))
PAGES = [page for page in ALL if "```{sheet}" in page.read_text("utf-8")]
LEFT_OVER = re.compile(r"\{[a-z:-]+\}`|^\s*(?:`{3,}|:{3,})\{|\.md[)#]|\$\$ \(eq-|^\* - ", re.M)
SMALL = r"""---
kernelspec: {display_name: Python 3, language: python, name: python3}
jupytext: {text_representation: {extension: .md, format_name: myst}}
---

# A page

By {eq}`eq-a` {cite:p}`one, two` a [gate](swiglu.md#gate) closes {term}`slowly <slow>`.

$$
x = 1 \tag{22.9}
$$ (eq-a)

::::{dropdown} Why?
:::{admonition} So
:class: tip
because
:::
::::

```{list-table}
:class: derivation

* - $|x| = 1$
  - given
```

```{quiz} rmsnorm
```

```{code-cell} ipython3
:tags: [remove-input]
print(1)
```
"""


@pytest.fixture(scope="module")
def tables():
    works = page_notebooks.cited_works(BOOK / "references.bib")
    return page_notebooks.equation_numbers(ALL), works


def test_what_plain_jupyter_does_not_know_becomes_plain(tmp_path):
    page = tmp_path / "a.md"
    page.write_text(SMALL, "utf-8")
    works = {"one": "Ba 2016", "two": "Su 2021"}
    notebook = page_notebooks.page_notebook(page, page_notebooks.equation_numbers([page]), works)
    _, text, code = notebook.cells
    assert code.source == "print(1)"
    assert "By (22.9) (Ba 2016; Su 2021) a gate closes slowly." in text.source
    assert "\\tag{22.9}\n$$\n" in text.source
    fold = "<details><summary>Why?</summary>\n\n> **So**\n> \n> because\n\n</details>"
    assert fold in text.source
    assert "- $|x| = 1$  \n  given" in text.source
    assert "quiz" not in text.source


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_leaves_nothing_of_the_book_s_language(page, tables):
    notebook = page_notebooks.page_notebook(page, *tables)
    nbformat.validate(notebook)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [LEFT_OVER.findall(text) for text in texts if LEFT_OVER.search(text)] == []
    written = len(re.findall(r"^```\{code-cell\}", page.read_text("utf-8"), re.M))
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == written
    listings = len(re.findall(r"^```\{literalinclude\}", page.read_text("utf-8"), re.M))
    assert sum(text.count("```python\n") for text in texts) >= listings


@pytest.mark.site
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_downloaded_page_runs_from_the_top(page, tmp_path, tables):
    notebook = page_notebooks.page_notebook(page, *tables)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder).execute()


@pytest.mark.site
def test_a_button_on_the_page_leads_to_its_notebook(page, site_url):
    page.goto(f"{site_url}book/rmsnorm.html")
    address = page.get_by_role("link", name="This page as a notebook").evaluate("a => a.href")
    served = nbformat.reads(page.request.get(address).text(), as_version=4)
    assert Path(address).name == "rmsnorm-page.ipynb"
    assert any("rmsnorm_backward" in cell.source for cell in served.cells)
