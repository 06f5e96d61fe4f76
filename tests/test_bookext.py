"""The book's Sphinx extension: numbers, listings, formulas, and pages that run again."""

import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
from bookext import pyodide
from bookext.equations import TAG
from bookext.formulas import keep_stops
from bookext.freshness import ASSETS, CODE, _note_digests, digest
from bookext.listings import summarize_docstring
from bookext.vendor import wanted_files
from docutils import nodes
from pages import ROOT

SETTINGS = """
extensions = ["myst_parser", "bookext.equations", "bookext.formulas", "bookext.listings"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "katex"
"""


@pytest.fixture
def build(tmp_path):
    """Build pages with our equations and listings: gives what was said and the first page."""
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "conf.py").write_text(SETTINGS, encoding="utf-8")
    source, target = tmp_path / "source", tmp_path / "html"
    source.mkdir()

    def run(text, *options, **others):
        for name, page in {"index": text, **others}.items():
            (source / f"{name}.md").write_text(dedent(page), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-c", tmp_path, *options, source, target],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT / "book/_ext")},
            timeout=300,
        )
        page = target / "index.html"
        html = page.read_text(encoding="utf-8") if page.exists() else ""
        return SimpleNamespace(code=done.returncode, said=done.stderr, html=html)

    return run


def test_the_tag_is_the_number_in_the_margin_and_in_references(build):
    built = build(
        """\
        # Page

        By {eq}`eq-a-b` and {eq}`eq-c`.

        $$
        y = \\frac{x}{r} \\tag{22.3}
        $$ (eq-a-b)

        ```{math}
        :label: eq-c
        \\tag{22.1} z = 1
        ```

        $$ w = 2 $$
        """,
        "-W",
    )
    assert built.code == 0, built.said
    assert built.html.count('<span class="eqno">') == 2
    assert '<span class="eqno">(22.3)<a class="headerlink" href="#equation-eq-a-b"' in built.html
    assert '<a class="reference internal" href="#equation-eq-a-b">(22.3)</a>' in built.html
    assert '<a class="reference internal" href="#equation-eq-c">(22.1)</a>' in built.html
    assert built.html.count('<span class="katex-html"') == 3
    assert not TAG.search(built.html)


def test_a_stop_stays_with_a_short_formula():
    long = "+".join("abcdefghijklmnopq")
    parts = [nodes.math("", "x"), nodes.Text("), and "), nodes.math("", long), nodes.Text(". End")]
    line = nodes.paragraph("", "", *parts, nodes.math("", "y"))
    before = line.astext()
    keep_stops(line)
    assert [bound.astext() for bound in line.findall(nodes.inline)] == ["x),"]
    assert line.astext() == before


def test_numbers_without_labels_and_used_twice_are_named(build):
    built = build(
        """\
        # Page

        $$ a = 1 $$ (eq-bare)

        $$ b = 1 \\tag{22.1} $$

        $$ c = 1 \\tag{22.2} $$ (eq-first)

        $$ d = 1 \\tag{22.2} $$ (eq-second)
        """
    )
    assert "index.md:3: WARNING: a numbered equation has one label and one \\tag" in built.said
    assert "index.md:5: WARNING: a numbered equation has one label and one \\tag" in built.said
    assert "index.md:9: WARNING: (22.2) is eq-first on index already" in built.said
    assert built.said.count("WARNING") == 3


@pytest.mark.parametrize("formula", ["$$ \\nosuchcommand{x} $$", "so $\\frac{x$ is"])
def test_a_wrong_formula_stops_the_build_and_says_where(build, formula):
    built = build(f"# Page\n\n{formula}\n")
    assert built.code != 0
    assert "index.md:3: KaTeX parse error:" in built.said


def test_a_listing_shows_the_function_with_the_first_line_of_its_docstring(build):
    listing = """\
        # Page

        ```{literalinclude} module.md
        :pyobject: double
        :docstring: summary
        :name: listing-double
        :caption: Listing 1
        ```

        [Listing 1](#listing-double)
        """
    module = '''\
        def double(x):
            """Double a number.

            At length.
            """
            return 2 * x
        '''
    built = build(listing, module=module)
    assert "Double a number." in built.html
    assert "At length." not in built.html
    assert 'id="listing-double"' in built.html
    assert 'href="#listing-double"' in built.html


def test_a_listing_with_an_unknown_wish_is_refused(build):
    page = "# Page\n\n```{literalinclude} index.md\n:docstring: none\n```\n"
    assert '"none" unknown' in build(page).said


@pytest.mark.parametrize(
    "source",
    [
        'def f(x):\n    """One line."""\n    return x\n',
        "def f(x):\n    return x\n",
        'class C:\n    """One line."""\n\n    x = 1\n',
    ],
)
def test_a_docstring_of_one_line_or_none_stays(source):
    assert summarize_docstring(source) == source


def test_a_raw_docstring_keeps_its_prefix():
    source = 'def f(x):\n    r"""Apply \\tanh.\n\n    More.\n    """\n    return x\n'
    assert summarize_docstring(source) == 'def f(x):\n    r"""Apply \\tanh."""\n    return x\n'


@pytest.fixture
def rooms(tmp_path):
    """A tree with a library of one file."""
    (tmp_path / "transformer_block").mkdir()
    (tmp_path / "transformer_block/norm.py").write_text("a = 1\n")
    return tmp_path


def test_the_digest_follows_the_source_and_nothing_else(rooms):
    before = digest(rooms, CODE)
    (rooms / "transformer_block/__pycache__").mkdir()
    (rooms / "transformer_block/__pycache__/norm.pyc").write_bytes(b"1")
    (rooms / "README.md").write_text("words")
    assert digest(rooms, CODE) == before
    (rooms / "transformer_block/norm.py").write_text("a = 2\n")
    assert digest(rooms, CODE) != before


def test_a_new_style_is_seen_as_new(rooms):
    (rooms / "book/assets").mkdir(parents=True)
    before = digest(rooms, ASSETS)
    (rooms / "book/assets/book.css").write_text("p {}")
    assert digest(rooms, ASSETS) != before


def test_executed_pages_are_kept_until_the_code_changes(rooms):
    app = SimpleNamespace(confdir=rooms, outdir=rooms / "_build/html")
    config = SimpleNamespace(nb_execution_cache_path="")
    executed = rooms / "_build/.jupyter_cache/executed"
    _note_digests(app, config)
    executed.mkdir()
    _note_digests(app, config)
    assert executed.exists()
    (rooms / "transformer_block/norm.py").write_text("a = 2\n")
    _note_digests(app, config)
    assert not executed.exists()


def test_everything_the_book_takes_from_others_is_here(monkeypatch):
    monkeypatch.setattr(pyodide, "fetch_packages", lambda wanted, folder, version: None)
    monkeypatch.setattr(pyodide, "PACKAGES", ())  # those are fetched when the book is built
    missing = [str(source) for source in wanted_files(ROOT).values() if not source.exists()]
    assert missing == []
