"""The builder: sheets become learners' notebooks, the same bytes each time, no answer left."""

import inspect
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from nbgrader.utils import compute_checksum

from grader import authoring, cli
from grader.errors import BuildError, UsageError
from grader.library import library_answer, names_of
from transformer_block import rmsnorm

REPOSITORY = Path(__file__).resolve().parent.parent
SHEET = Path(__file__).parent / "data" / "example_sheet.md"
NBGRADER_STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()"


def exercise(name, claim, says, **companions):
    claims = {claim: SimpleNamespace(name=claim, says=says)}
    return SimpleNamespace(name=name, claims=claims, companions=companions)


REGISTRY = {
    "rmsnorm_forward": exercise("rmsnorm_forward", "value", "Each row is divided by its RMS."),
    "rmsnorm_backward": exercise(
        "rmsnorm_backward", "dx", "The gradient is (22.3). " * 6, forward="rmsnorm_forward"
    ),
}


def find_exercise(name):
    if name not in REGISTRY:
        raise LookupError(f"no exercise is called {name!r}")
    return REGISTRY[name]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with the example sheet, and a registry that knows its claims."""
    monkeypatch.setattr(authoring, "find_exercise", find_exercise)
    (tmp_path / "solutions").mkdir()
    shutil.copy(SHEET, tmp_path / "solutions" / "example.md")
    return tmp_path


@pytest.fixture
def solved(repository):
    """Cells of the solved notebook by id."""
    notebook = authoring.master(repository / "solutions" / "example.md")
    return {cell.id: cell for cell in notebook.cells}


@pytest.fixture
def released(repository):
    """Cells of the learner's notebook by id."""
    notebook = authoring.learner_notebook(authoring.master(repository / "solutions/example.md"))
    return {cell.id: cell for cell in notebook.cells}


# Bytes


def test_the_notebooks_of_this_repository_are_up_to_date():
    assert authoring.stale_notebooks(REPOSITORY) == []


def test_two_builds_give_the_same_bytes(repository):
    (path,) = authoring.write_notebooks(repository)
    first = path.read_bytes()
    authoring.write_notebooks(repository)
    assert path.read_bytes() == first
    assert authoring.stale_notebooks(repository) == []


def test_a_notebook_ends_in_one_newline_has_sorted_keys_no_outputs_and_no_versions(repository):
    (path,) = authoring.write_notebooks(repository)
    text = path.read_text("utf-8")
    notebook = json.loads(text)
    assert text == json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize("harm", ["one byte", "missing", "no sheet"])
def test_check_notices_a_notebook_that_is_not_what_its_sheet_gives(repository, harm, capsys):
    (path,) = authoring.write_notebooks(repository)
    root = ["--root", str(repository)]
    assert cli.main(["build", "--check", *root]) == 0
    if harm == "one byte":
        path.write_bytes(path.read_bytes().replace(b"Run the next", b"Run the text"))
    elif harm == "missing":
        path.unlink()
    else:
        path.with_name("old.ipynb").write_text("{}")
    capsys.readouterr()
    assert cli.main(["build", "--check", *root]) == 1
    said = {
        "no sheet": "notebooks/old.ipynb: there is no solutions/old.md; delete it\n",
        "one byte": "notebooks/example.ipynb: differs from solutions/example.md; "
        "run: python -m grader build\n",
    }
    assert capsys.readouterr().err == said.get(harm, said["one byte"])


def test_build_names_what_it_wrote(repository, capsys):
    assert cli.main(["build", "--root", str(repository)]) == 0
    assert capsys.readouterr().out == "wrote notebooks/example.ipynb\n"


def test_a_broken_sheet_leaves_all_notebooks_as_they_were(repository):
    (path,) = authoring.write_notebooks(repository)
    before = path.read_bytes()
    (repository / "solutions" / "example.md").write_text("# Changed\n")
    (repository / "solutions" / "zz.md").write_text('+++ {"colour": 1}\n\ntext\n')
    with pytest.raises(BuildError):
        authoring.write_notebooks(repository)
    assert path.read_bytes() == before


def test_a_repository_without_sheets_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no sheets in .*solutions: name the repository"):
        authoring.write_notebooks(tmp_path)


# What nbgrader sees


@pytest.mark.parametrize(
    ("cell_id", "grade", "solution", "locked", "points"),
    [
        ("rmsnorm_forward", False, True, False, None),
        ("rmsnorm_forward-value", True, False, True, 3),
        ("rmsnorm_backward", False, True, False, None),
        ("rmsnorm_backward-dx", True, False, True, 1),
        ("in_words", True, True, False, 2),
        ("example-setup-1", False, False, True, None),
    ],
)
def test_a_cell_has_the_metadata_that_nbgrader_expects(
    released, cell_id, grade, solution, locked, points
):
    cell = released[cell_id]
    meta = dict(cell.metadata.nbgrader)
    assert meta.pop("checksum") == compute_checksum(cell)
    assert meta.pop("points", None) == points
    assert meta == {
        "cell_type": cell.cell_type,
        "grade": grade,
        "grade_id": cell_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    assert cell.metadata.deletable is False
    assert cell.metadata.get("editable", True) is not locked


@pytest.mark.parametrize("cell_id", ["example-text-1", "example-scratch-1", "exercise-in_words"])
def test_text_and_scratch_cells_stay_free(released, cell_id):
    assert released[cell_id].metadata == {}


def test_exercises_are_numbered_and_say_how_hard_how_long_and_how_much(released):
    starts = [c.source.split("\n\n")[:2] for c in released.values() if "exercise-" in c.id]
    assert starts == [
        ["## Exercise 1 · The forward pass", "★ · about 10 minutes · 3 points"],
        ["## Exercise 2 · The backward pass", "★★ · about 1 minute · 1 point"],
        ["## Exercise 3 · In words", "★ · about 5 minutes · 2 points"],
    ]


def test_a_graded_cell_says_its_claim_and_calls_the_check(released):
    assert released["rmsnorm_forward-value"].source == (
        "# Each row is divided by its RMS.\n"
        "from grader import check\n\n"
        'check(rmsnorm_forward, "value")'
    )


def test_a_companion_is_passed_and_a_long_claim_is_wrapped(released):
    lines = released["rmsnorm_backward-dx"].source.splitlines()
    assert lines[-1] == 'check(rmsnorm_backward, "dx", forward=rmsnorm_forward)'
    assert all(line.startswith("# ") and len(line) <= 100 for line in lines[:-3])
    assert len(lines[:-3]) == 2


# Answers


def test_a_stub_keeps_signature_and_docstring_of_the_library_and_nothing_else(released):
    source = released["rmsnorm_forward"].source
    namespace = {}
    exec(source, namespace)
    stub = namespace["rmsnorm_forward"]
    assert inspect.signature(stub) == inspect.signature(rmsnorm.rmsnorm_forward)
    assert stub.__doc__ == rmsnorm.rmsnorm_forward.__doc__
    assert source.endswith('"""\n' + NBGRADER_STUB)
    with pytest.raises(NotImplementedError):
        stub(None, None)


def test_a_stub_keeps_what_stands_round_the_marks(released):
    assert released["rmsnorm_backward"].source.endswith(
        f"    x, weight, inv_rms, normalized = cache\n{NBGRADER_STUB}\n    return dx"
    )


@pytest.mark.parametrize(
    "sheet", [SHEET, *sorted((REPOSITORY / "solutions").glob("*.md"))], ids=lambda path: path.stem
)
def test_no_line_of_an_answer_reaches_the_learner(sheet):
    cells = authoring.master(sheet).cells
    marked = "\n".join(c.source for c in cells if "BEGIN SOLUTION" in c.source)
    regions = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", marked, re.DOTALL)
    by_hand = [c.source for c in cells if c.cell_type == "markdown" and "nbgrader" in c.metadata]
    lines = {line.strip() for text in regions + by_hand for line in text.splitlines()}
    tells_nothing = re.compile(r"\W*(else:)?")  # a bracket, a bare keyword
    lines = {line for line in lines if not tells_nothing.fullmatch(line)}
    assert len(lines) > 10
    learner = "\n".join(c.source for c in authoring.learner_notebook(authoring.master(sheet)).cells)
    assert [line for line in lines if line in learner] == []
    assert "SOLUTION" not in learner


def test_an_answer_in_words_is_replaced_whole(released):
    assert released["in_words"].source == "YOUR ANSWER HERE"


def test_the_solved_notebook_computes_what_the_library_computes(solved):
    namespace = {}
    for cell in solved.values():
        if cell.cell_type == "code" and "check(" not in cell.source:
            exec(cell.source.replace("%matplotlib inline", ""), namespace)
    x, weight = np.random.default_rng(3).standard_normal((2, 5, 7)), np.arange(7.0)
    out, cache = namespace["rmsnorm_forward"](x, weight)
    want, _ = rmsnorm.rmsnorm_forward(x, weight)
    np.testing.assert_array_equal(out, want)
    dx = namespace["rmsnorm_backward"](x, cache)
    np.testing.assert_allclose(dx, rmsnorm.rmsnorm_backward(x, cache)[0], rtol=1e-12)


def test_helpers_from_private_modules_are_imported_first_inside_the_marks(solved):
    assert (
        "    ### BEGIN SOLUTION\n"
        "    from transformer_block._require import require_eps, require_width\n"
        "    require_width(x, weight=weight)\n"
    ) in solved["rmsnorm_forward"].source


LIBRARY = '''
from functools import cache

from roomy._inner import helper as h, unused
from roomy.open import public


@cache  # kept
def answer(x, /, *, y=1):  # kept too
    """Say
    it."""
    # a comment before the first statement
    text = """
 less indented
"""

    return h(text), public, x  # a comment at the end
    # a comment under the last statement


# a comment that is not the function's
def bare(x):
    return x


def empty():
    """Do nothing."""
'''

SOLVED = '''\
@cache  # kept
def answer(x, /, *, y=1):  # kept too
    """Say
    it."""
    ### BEGIN SOLUTION
    from roomy._inner import helper as h
    # a comment before the first statement
    text = """
 less indented
"""

    return h(text), public, x  # a comment at the end
    # a comment under the last statement
    ### END SOLUTION'''


@pytest.fixture
def roomy(tmp_path, monkeypatch):
    """A package with a module of odd functions."""
    (tmp_path / "roomy").mkdir()
    (tmp_path / "roomy" / "__init__.py").write_text("")
    (tmp_path / "roomy" / "odd.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)


def test_decorators_comments_and_odd_lines_of_a_function_are_kept(roomy):
    assert library_answer("roomy.odd.answer") == SOLVED


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("roomy.odd.nobody", "roomy.odd has no function nobody"),
        ("roomy.nowhere.f", "there is no module roomy.nowhere"),
        ("nowhere.at_all.f", "there is no module nowhere.at_all"),
        ("roomy.odd.bare", "roomy.odd.bare has no docstring"),
        ("roomy.odd.empty", "roomy.odd.empty has no body under its docstring"),
    ],
)
def test_a_function_that_cannot_be_an_answer_is_refused_with_the_reason(roomy, name, reason):
    with pytest.raises(LookupError, match=f"^{re.escape(reason)}$"):
        library_answer(name)


@pytest.mark.parametrize(
    ("source", "defined", "free"),
    [
        ("import numpy as np\nfrom a.b import c", {"np", "c"}, set()),
        ("y = x", {"y"}, {"x"}),
        ("def f(a, b=B):\n    return a + len(C)", {"f"}, {"B", "C"}),
        ("def f(n):\n    return n and f(n - 1)", {"f"}, set()),
        ("def f(a):\n    def g():\n        return a, D\n    return g", {"f"}, {"D"}),
        ("[i for i in range(N)]", set(), {"N"}),
        ("for i in []:\n    pass", {"i"}, set()),
        ("class A(Base):\n    def m(self):\n        return E", {"A"}, {"Base", "E"}),
        ("%matplotlib inline\n%timeit 1\nz = 1", {"z"}, set()),
        ("display(1)", set(), set()),
    ],
)
def test_the_names_that_a_cell_defines_and_needs_are_found(source, defined, free):
    assert names_of(source) == (defined, free)


# Errors


def code(*lines):
    return "\n".join(["```{code-cell} ipython3", *lines, "```", ""])


def markdown(head, *lines):
    return "\n".join([f"+++ {head}", "", *lines, ""])


FORWARD = code(
    ":answer: rmsnorm_forward", "### BEGIN SOLUTION", "rmsnorm_forward = 1", "### END SOLUTION"
)
CLAIM = code(":claim: rmsnorm_forward value", ":points: 2")
HEADING = '{"exercise": "rmsnorm_forward", "stars": 1, "minutes": 5}'

ERRORS = {
    "unknown function": (
        code(":answer: transformer_block.rmsnorm.rmsnorm_sideways"),
        "cell 1 (rmsnorm_sideways): transformer_block.rmsnorm has no function rmsnorm_sideways",
    ),
    "unknown module": (
        code(":answer: transformer_block.nowhere.f"),
        "cell 1 (f): there is no module transformer_block.nowhere",
    ),
    "library answer with source": (
        code(":answer: transformer_block.rmsnorm.rmsnorm_forward", "x = 1"),
        "cell 1 (rmsnorm_forward): must be empty: the answer comes from the library",
    ),
    "unknown exercise": (
        FORWARD + code(":claim: nobody value", ":points: 2"),
        "cell 2 (nobody value): no exercise is called 'nobody'",
    ),
    "unknown claim": (
        FORWARD + code(":claim: rmsnorm_forward valu", ":points: 2"),
        "cell 2 (rmsnorm_forward valu): rmsnorm_forward has no claim 'valu': it has value",
    ),
    "claim with source": (
        FORWARD + CLAIM.replace("2\n", "2\nx = 1\n"),
        "cell 2 (rmsnorm_forward value): must be empty: the check comes from the registry",
    ),
    "repeated grade id": (
        FORWARD + CLAIM + CLAIM,
        "cell 3 (rmsnorm_forward value): "
        "the id 'rmsnorm_forward-value' is taken by an earlier cell",
    ),
    "bad grade id": (
        markdown('{"by_hand": "in words", "points": 2}', "model"),
        "cell 1 (in words): the id 'in words' must be 1 to 64 letters, digits, hyphens or "
        "underscores",
    ),
    "graded without points": (
        FORWARD + code(":claim: rmsnorm_forward value"),
        "cell 2 (rmsnorm_forward value): 'points' must be a whole number above zero: got None",
    ),
    "zero points": (
        FORWARD + code(":claim: rmsnorm_forward value", ":points: 0"),
        "cell 2 (rmsnorm_forward value): 'points' must be a whole number above zero: got 0",
    ),
    "by hand without points": (
        markdown('{"by_hand": "in_words"}', "model"),
        "cell 1 (in_words): 'points' must be a whole number above zero: got None",
    ),
    "answer without marks": (
        code(":answer: f", "f = 1"),
        "cell 1 (f): the answer must stand between ### BEGIN SOLUTION and ### END SOLUTION",
    ),
    "answer without an end": (
        code(":answer: f", "### BEGIN SOLUTION", "f = 1"),
        "cell 1 (f): the answer must stand between ### BEGIN SOLUTION and ### END SOLUTION",
    ),
    "marks outside an answer": (
        code("# BEGIN SOLUTION", "x = 1", "# END SOLUTION"),
        "cell 1: has the mark 'BEGIN SOLUTION' but is no answer",
    ),
    "claim before its answer": (
        CLAIM + FORWARD,
        "cell 1 (rmsnorm_forward value): no cell before this one answers rmsnorm_forward",
    ),
    "free name of a library function": (
        code(":answer: transformer_block.rmsnorm.rmsnorm_forward"),
        "cell 1 (rmsnorm_forward): uses np, which no earlier cell defines",
    ),
    "free names of a cell": (
        code("y = x + z"),
        "cell 1: uses x, z, which no earlier cell defines",
    ),
    "companion not defined": (
        code(
            ":answer: rmsnorm_backward",
            "### BEGIN SOLUTION",
            "rmsnorm_backward = 1",
            "### END SOLUTION",
        )
        + code(":claim: rmsnorm_backward dx", ":points: 1"),
        "cell 2 (rmsnorm_backward dx): uses rmsnorm_forward, which no earlier cell defines",
    ),
    "heading without its answer": (
        markdown(HEADING, "## Forward")
        + markdown('{"exercise": "in_words", "stars": 1, "minutes": 5}', "## Words")
        + FORWARD,
        "cell 1 (rmsnorm_forward): no answer below this heading has its name",
    ),
    "exercise without a heading": (
        markdown(HEADING, "Forward") + FORWARD,
        "cell 1 (rmsnorm_forward): must start with a heading: '## What is asked'",
    ),
    "stars missing": (
        markdown('{"exercise": "rmsnorm_forward", "minutes": 5}', "## Forward") + FORWARD,
        "cell 1 (rmsnorm_forward): 'stars' must be a whole number above zero: got None",
    ),
    "unknown key": (
        code(":claims: rmsnorm_forward value", "x = 1"),
        "cell 1: does not know the key 'claims'",
    ),
    "unknown key beside a known one": (
        code(":claim: rmsnorm_forward value", ":points: 1", ":stars: 2"),
        "cell 1 (rmsnorm_forward value): does not know the key 'stars' beside 'claim'",
    ),
    "key in the wrong kind of cell": (
        code(":by_hand: words", ":points: 1"),
        "cell 1 (words): 'by_hand' belongs in a markdown cell, this is a code cell",
    ),
    "name that is no text": (
        code(":answer: 3"),
        "cell 1 (3): 'answer' must be a name: got 3",
    ),
    "not Python": (
        code("x = 1", "y = ="),
        "cell 1: not Python: invalid syntax, line 2",
    ),
}


@pytest.mark.parametrize(("text", "reason"), ERRORS.values(), ids=ERRORS.keys())
def test_a_sheet_that_cannot_be_built_gets_one_line_with_file_cell_and_reason(
    repository, text, reason, capsys
):
    (repository / "solutions" / "example.md").write_text(text, "utf-8")
    assert cli.main(["build", "--root", str(repository)]) == 1
    said = capsys.readouterr()
    assert said.err == f"solutions/example.md, {reason}\n"
    assert said.out == ""
    assert not (repository / "notebooks").exists()


def test_a_file_that_is_no_text_notebook_is_named(repository, capsys):
    (repository / "solutions" / "example.md").write_text('+++ {"exercise": \n\ntext\n')
    assert cli.main(["build", "--root", str(repository)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("solutions/example.md: not readable: Markdown cell 0 at line 1")
    assert said.count("\n") == 1
