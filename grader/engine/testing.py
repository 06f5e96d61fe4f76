"""The trusted side: graded cells of the master, run here, with students' names fetched over."""

import ast
import contextlib
import io
import math
import random
import time
import zlib
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from grader.checks import SEED, CheckFailed
from grader.engine import roles
from grader.engine.far.clock import time_limit
from grader.engine.jail import Lost
from grader.engine.limits import GRACE
from grader.records import PASSED, TIMED_OUT, WRONG

MOST_SHOWN = 20_000  # characters of what a test prints


@dataclass
class Verdict:
    """What running one graded cell gave.

    Parameters
    ----------
    outcome : str
        As in `grader.records`.
    share : float
        Part of the points that is won, from 0 to 1.
    sentence : str
        What the learner is told.
    mistakes : tuple of str
        Names from the catalogue of mistakes.
    shown : str
        What the cell printed.
    untold : bool
        Whether the test wanted to look at something that does not cross.
    author_error : str
        What the author of the test should mend.
    """

    outcome: str
    share: float = 0.0
    sentence: str = ""
    mistakes: tuple = ()
    shown: str = ""
    untold: bool = False
    wrote: bool = False
    author_error: str = ""
    seconds: float = 0.0


@dataclass
class Tester:
    """Runs the master's tests for one submission.

    Parameters
    ----------
    master : Master
        It decides what is run.
    student : Student
        The notebook in the sandbox.
    may_write : frozenset of str
        Names of graded cells in which a student's function is meant to change its arguments.
    """

    master: object
    student: object
    may_write: frozenset = frozenset()
    namespace: dict = field(default_factory=lambda: {"__name__": "__main__"})
    ran: set = field(default_factory=set)
    broken: dict = field(default_factory=dict)  # names that a failed cell should have defined
    to_come: set = field(init=False)  # names of graded cells, in whatever order they stand

    def __post_init__(self):
        """Begin with all of the master's graded cells before this notebook."""
        self.to_come = {cell.name for cell in self.master.graded}

    def test(self, cell):
        """Run a graded cell; return its `Verdict`."""
        started = time.monotonic()
        verdict = self._test(cell)
        self.to_come.discard(cell.name)
        verdict.seconds = time.monotonic() - started
        return verdict

    def _test(self, cell):
        shown = io.StringIO()
        link = None
        _same_chance_for_all(cell)
        try:
            with self.student.at_work(cell.seconds) as link:
                write_back = cell.name in self.may_write or uses_check(cell)
                free = self.master.free_before(self.to_come)
                link.begin_test(self.master.judged[cell.name], write_back, free)
                with _collecting(shown), time_limit(link.left + GRACE) as clock:
                    value = self._run(cell, link)
                if clock.error:
                    raise Lost(TIMED_OUT, "the test took too long")
            verdict = _verdict_of(value, cell)
        except Lost as lost:
            verdict = Verdict(lost.outcome, sentence=self._tell_lost(lost, cell))
        except Missing as missing:
            verdict = Verdict(WRONG, sentence=str(missing))
        except Exception as error:
            verdict = Verdict(WRONG, sentence=_tell(error, cell), mistakes=_mistakes(error))
        if link is not None:
            link.judged = frozenset()
        verdict.shown = shown.getvalue()[:MOST_SHOWN]
        verdict.untold, verdict.wrote = (link.untold, link.wrote) if link else (False, False)
        return verdict

    def _tell_lost(self, lost, cell):
        if lost.outcome == TIMED_OUT:
            return self.student.told_late(cell.seconds)
        return f"The notebook stopped while this was checked: {lost.why}."

    def _run(self, cell, link):
        """Bind what the cell needs, run it, and return the value of its last expression."""
        for earlier, names in self.master.plans[cell.name]:
            self._fetch(names, link, earlier)
            if earlier is not cell:
                self._run_locked(earlier)
        return execute(cell.source, self.namespace)

    def _run_locked(self, cell):
        """Run a locked cell here once; what it cannot do here shows when a test needs it."""
        if cell.name not in self.ran:
            self.ran.add(cell.name)
            with contextlib.suppress(Exception):
                execute(cell.source, self.namespace)

    def _fetch(self, names, link, cell):
        """Bring names over from the notebook."""
        for name in names:
            there, value = link.fetch(name)
            if there:
                self.namespace[name] = value
                continue
            self.namespace.pop(name, None)
            if cell.role == roles.GRADED and name in self.master.asked:
                raise Missing(self._why_missing(name))

    def _why_missing(self, name):
        reason = self.broken.get(name)
        return f"There is no {name} in the notebook" + (f": {reason}." if reason else ".")


def _same_chance_for_all(cell):
    """Draw the same inputs for every student, and in every run."""
    seed = zlib.crc32(cell.name.encode())
    SEED.set(seed)
    np.random.seed(seed)  # noqa: NPY002 (tests of others draw from it)
    random.seed(seed)


class Missing(Exception):
    """The notebook does not define what a test is about."""


def execute(source, namespace):
    """Run code, and return the value of its last expression if it ends in one."""
    code, last = compiled(source)
    exec(code, namespace)
    return None if last is None else eval(last, namespace)


def compile_tests(master):
    """Compile all graded cells of a master now; one that is no Python tells so when it is run."""
    for cell in master.graded:
        with contextlib.suppress(SyntaxError, ValueError):
            compiled(cell.source)


@cache
def compiled(source):
    """Compile a cell of the master's without its last expression, and that, if it ends in one."""
    tree, last = ast.parse(source), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = compile(ast.Expression(tree.body.pop().value), "<test>", "eval")
    return compile(tree, "<test>", "exec"), last


def uses_check(cell):
    """Tell whether a cell tests with `check`, which works on copies of everything."""
    return "grader" in cell.source and "check" in cell.names[0] | cell.names[1]


@contextlib.contextmanager
def _collecting(shown):
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        yield


def _verdict_of(value, cell):
    """Turn the value of a test's last expression into points: a number means that many."""
    if value is None or isinstance(value, str):
        return Verdict(PASSED, 1.0)
    if isinstance(value, bool | np.bool_):
        return Verdict(PASSED, 1.0) if value else Verdict(WRONG, sentence="The test says False.")
    number = _number(value)
    if number is None:
        return _odd_value(value)
    if math.isnan(number) or not 0 <= number <= cell.points:
        return Verdict(
            WRONG,
            author_error=f"the test of {cell.name} ended in {number:g}, which is no number of "
            f"points from 0 to {cell.points:g}",
        )
    share = number / cell.points if cell.points else 1.0
    sentence = "" if share == 1 else f"{number:g} of {cell.points:g} points."
    return Verdict(PASSED if share == 1 else WRONG, share, sentence)


def _number(value):
    """Return the real number that a value is, or none."""
    if isinstance(value, int | float | np.number) and not isinstance(value, complex):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(value)
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf":
        return float(value)
    return None


def _odd_value(value):
    """Judge a value that is no number: only collections of numbers look like points."""
    if isinstance(value, tuple | list | np.ndarray | complex):
        return Verdict(
            WRONG,
            author_error=f"a test ended in a {type(value).__name__}: points are one number",
        )
    return Verdict(PASSED, 1.0)


def _mistakes(error):
    return tuple(error.mistakes) if isinstance(error, CheckFailed) else ()


def _tell(error, cell):
    """Say what failed in public words: never a hidden input or what was wanted for it."""
    if isinstance(error, CheckFailed):
        return error.public
    frames = getattr(error, "student_frames", None)
    kind = type(error).__name__
    lines = [f"  line {f.lineno}, in {f.name}: {f.line}" for f in frames or () if f.line]
    if cell.hides:
        if isinstance(error, AssertionError) and _is_written_in(str(error), cell.source):
            return str(error)
        return "\n".join([f"This raised {kind}:", *lines]) if lines else "A hidden test fails."
    first = f"{kind}: {error}" if str(error) else f"{kind} in the test"
    if isinstance(error, AssertionError):
        first = str(error) or "The test's assertion does not hold."
    return "\n".join([first[:2000], *lines])


def _is_written_in(text, source):
    """Tell whether a message stands in the test as it is, so that no value got into it."""
    strings = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    return bool(text) and text in strings
