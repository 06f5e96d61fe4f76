"""Notebooks in the sandbox: what they show, what their functions give back, what they survive."""

import copy
import subprocess

import numpy as np
import pytest

from grader.engine.attacks import attacks
from grader.engine.doctor import examine
from grader.engine.jail import Jail, Lost
from grader.engine.limits import Limits
from grader.engine.stage import set_engine, set_library, set_stage
from grader.engine.student import Student

LIMITS = Limits(seconds=20.0)
pytestmark = pytest.mark.marking


@pytest.fixture(scope="module")
def jail(tmp_path_factory):
    stage = open_folder(tmp_path_factory)
    set_stage(stage, [])
    with Jail(stage, LIMITS) as running:
        yield running


def open_folder(tmp_path_factory):
    """Make a folder for a stage, which the sandbox's user can get at."""
    stage = tmp_path_factory.mktemp("stage")
    for folder in (stage, *stage.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o755)
    return stage


def test_a_server_ends_when_nobody_is_left_to_lay_down_its_library(tmp_path_factory):
    stage = open_folder(tmp_path_factory)
    set_engine(stage)
    with Jail(stage, LIMITS) as running:
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(3)
        running.control.close()
        running.process.wait(30)


def test_a_server_starts_before_its_library_is_there(tmp_path_factory):
    stage = open_folder(tmp_path_factory)
    set_engine(stage)
    with Jail(stage, LIMITS) as running:
        set_library(stage, [])
        running.wait_until_ready()
        assert running.ready


@pytest.fixture
def student(jail):
    running = Student(jail, LIMITS)
    yield running
    running.close()


def shown(student, source):
    """Run a cell that ends well; return what it showed."""
    result = student.run(source)
    assert result["error"] is None, result["error"]
    return result["outputs"]


def fetched(student, source, name="f"):
    shown(student, source)
    with student.at_work() as link:
        there, value = link.fetch(name)
    assert there
    return value


def called(student, function, *args, **kwargs):
    with student.at_work():
        return function(*args, **kwargs)


def test_a_cell_shows_text_results_and_figures(student):
    (text, result) = shown(student, "print('one')\nimport sys\n1 + 1")
    assert (text["stream"], text["text"]) == ("stdout", "one\n")
    assert result["data"] == {"text/plain": "2"}
    (figure,) = shown(student, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")[-1:]
    assert figure["data"]["image/png"].startswith("iVBOR")


def test_html_and_scripts_are_not_shown(student):
    source = "from IPython.display import HTML, Javascript, display\ndisplay(HTML('<b>x</b>'))"
    for item in shown(student, source):
        assert set(item["data"]) == {"text/plain"}


def test_a_function_gives_back_what_it_gives_in_a_notebook(student):
    f = fetched(student, "import numpy as np\ndef f(x, *, k=2):\n    return k * x, {'x': x}")
    assert f.__name__ == "f"
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    out, cache = called(student, f, x, k=3)
    np.testing.assert_array_equal(out, 3 * x)
    assert out.flags.f_contiguous
    np.testing.assert_array_equal(cache["x"], x)


def test_a_cache_comes_back_as_the_object_that_it_was(student):
    shown(
        student,
        "class Cache:\n    pass\nmade = []\n"
        "def forward(x):\n    made.append(Cache())\n    return x, made[-1]\n"
        "def backward(dx, cache):\n    return float(cache is made[-1])\n"
        "def other(dx, cache):\n    return float(isinstance(cache, Cache) and cache not in made)",
    )
    with student.at_work() as link:
        forward, backward, other = (link.fetch(n)[1] for n in ("forward", "backward", "other"))
        _, cache = forward(1.0)
        assert type(cache).__name__ == "Cache"
        assert backward(2.0, cache) == 1.0
        assert other(2.0, copy.deepcopy(cache)) == 1.0


def test_arguments_that_were_changed_in_place_are_changed_here(student):
    f = fetched(student, "def f(x, d):\n    x += 1\n    d['n'].append(3)\n    return 0")
    x, d = np.zeros(3), {"n": [1]}
    called(student, f, x, d)
    assert x.tolist() == [1, 1, 1]
    assert d == {"n": [1, 3]}


def test_a_function_of_ours_can_be_passed_and_is_called_here(student):
    f = fetched(student, "def f(g, x):\n    return g(g(x))")
    assert called(student, f, lambda x: x + 1, 3) == 5
    with pytest.raises(ZeroDivisionError):
        called(student, f, lambda x: x / 0, 3)


def test_a_function_may_return_a_function(student):
    f = fetched(student, "def f(a):\n    return lambda b: a + b")
    assert called(student, called(student, f, 2), 3) == 5


def test_a_warning_arrives_as_one(student):
    f = fetched(student, "import numpy as np\ndef f(x):\n    return np.log(x)")
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        called(student, f, np.zeros(1))


def test_an_exception_arrives_with_its_kind_and_the_student_s_lines(student):
    shown(
        student,
        "class Odd(KeyError):\n    pass\n"
        "def f(x):\n    return g(x)\ndef g(x):\n    raise {0: Odd, 1: ValueError}[x]('no')",
    )
    with student.at_work() as link:
        f = link.fetch("f")[1]
        with pytest.raises(ValueError, match="no") as caught:
            f(1)
        with pytest.raises(KeyError) as odd:
            f(0)
    assert [(frame.name, frame.line) for frame in caught.value.student_frames] == [
        ("f", "return g(x)"),
        ("g", "raise {0: Odd, 1: ValueError}[x]('no')"),
    ]
    assert type(odd.value).__name__ == "Odd"


def test_a_name_that_is_not_there_is_told(student):
    with student.at_work() as link:
        assert link.fetch("nowhere") == (False, None)


@pytest.mark.parametrize("end", ["import os; os._exit(0)", "import ctypes; ctypes.string_at(0)"])
def test_what_was_defined_before_a_crash_is_there_after_it(student, end):
    shown(student, "x = 3")
    with pytest.raises(Lost) as lost:
        student.run(end)
    assert lost.value.outcome == "crashed"
    assert shown(student, "x")[0]["data"] == {"text/plain": "3"}


def test_a_loop_is_interrupted_and_the_notebook_lives(jail):
    hurried = Student(jail, Limits(seconds=1.0))
    result = hurried.run("x = 3\nwhile True:\n    pass")
    assert result["error"]["text"] == "timed out after 1 s"
    assert shown(hurried, "x")[0]["data"] == {"text/plain": "3"}
    hurried.close()


def test_output_without_end_is_cut(student):
    (text,) = shown(student, "for n in range(10**5): print(n)")
    assert len(text["text"]) < 60_000
    assert text["text"].endswith("the output is cut here.\n")


def test_another_notebook_finds_nothing_of_the_one_before(jail):
    for _ in range(2):
        student = Student(jail, LIMITS)
        assert student.run("x")["error"]["type"] == "NameError"
        shown(student, "x = 3\nopen('file', 'x')")
        student.close()


def test_the_doctor_tries_every_attack_and_the_walls_hold(tmp_path):
    assert {what for what, held in examine(tmp_path, "auto") if not held} == set()


def test_the_doctor_sees_what_is_open_without_walls(tmp_path):
    open_ones = {what for what, held in examine(tmp_path, "limits") if not held}
    assert {"read the instructor's files", "reach the network"} <= open_ones


def test_every_attack_is_python(tmp_path):
    facts = dict.fromkeys(("pid", "port", "processes", "memory", "file"), 7)
    for attack in attacks({**facts, "files": ["x"], "folder": "y", "name": "z", "secret": "s"}):
        compile(attack.code, attack.what, "exec")
        compile(attack.before, attack.what, "exec")
