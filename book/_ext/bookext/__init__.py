r"""The book's own Sphinx extension: fixed numbers, short listings, everything from one origin.

For authors
-----------
**An equation** has a number that is the same in the book, in docstrings and in the sheets. Write
both the number and a label (the number as a tag, the label ``eq-`` plus the page's name plus a
word), and refer to it by its label; the reference reads (22.3) and leads to the equation::

    $$
    \mathrm{d}x = \dots \tag{22.3}
    $$ (eq-rmsnorm-backward)

    By {eq}`eq-rmsnorm-backward` …

Display mathematics without a number has neither. **A listing** is the tested function itself;
``:docstring: summary`` shows its first line only, and the name is what links lead to::

    ```{literalinclude} ../transformer_block/rmsnorm.py
    :pyobject: rmsnorm_forward
    :docstring: summary
    :caption: "Listing 22.2 · The forward pass"
    :name: listing-rmsnorm-forward
    ```

    [Listing 22.2](#listing-rmsnorm-forward) …

**A question** is a fold whose title ends with a question mark (``:::{dropdown} Why …?``). Each has
an address, and ``{questions}`` lists them all. ``{sheet-answers} rmsnorm`` shows the answers of a
sheet, ``{claims} rmsnorm`` what its checks know.

**A quiz**, ``{quiz} rmsnorm``, lets the reader choose among the answers that stand in
``book/quizzes/rmsnorm.yml``, and says of each why it is right or wrong; see ``quiz.py``.

**Code that runs on the page**, ``{run} rmsnorm/rmsnorm_forward``, is an exercise of a sheet with
buttons that run and check it; see ``run.py``.

**A sheet**, ``{sheet} rmsnorm``, is two buttons: work it in the browser, or download it; see
``sheets.py``. A page with a sheet can be downloaded as a notebook; see ``page_notebooks.py``.

**A widget** is the last line of a code cell; its script and state are put into the page, and the
loader is read on that page only. Whatever the page imports from ``transformer_block`` is run
afresh when its source changes. A formula that KaTeX does not know, and a number without a label,
fail the build.
"""

from bookext import (
    answers,
    claims,
    equations,
    executing,
    formulas,
    freshness,
    listings,
    offline,
    page_notebooks,
    questions,
    quiz,
    run,
    sheets,
    vendor,
)

PARTS = (
    vendor,
    freshness,
    executing,
    equations,
    formulas,
    listings,
    page_notebooks,
    questions,
    quiz,
    run,
    offline,
    sheets,
    answers,
    claims,
)


def setup(app):
    """Connect the parts of the extension to Sphinx."""
    for part in PARTS:
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
