"""A whole class through all verbs: odd names, odd paths, another locale, the same bytes."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from classes import REPOSITORY, SHEET, make_small_course

pytestmark = pytest.mark.marking
SUBMISSIONS = REPOSITORY / "tests" / "submissions" / SHEET
CLASS = {
    "zoë <b>": "right",
    "o'neil": "eps_outside",
    'say "hi" & bye': "no_rank_one",
    "ana maría": "untouched",
    "李雷": "raises",
}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course in a path with a space and an ñ: five students, one broken, one with nothing."""
    folder = tmp_path_factory.mktemp("años y cursos")
    course = make_small_course(folder / "otoño 1", folder)
    files = {name: (SUBMISSIONS / f"{file}.ipynb").read_bytes() for name, file in CLASS.items()}
    for name, data in {**files, "broken": b"{"}.items():
        place = course / "submitted" / name / SHEET
        place.mkdir(parents=True)
        (place / f"{SHEET}.ipynb").write_bytes(data)
    (course / "submitted" / "nobody").mkdir()
    return course


def run_all(course, locale):
    """Run every verb on a class; return what they wrote for others to read."""
    verbs = (["grade"], ["feedback"], ["report"], ["export", "--to", course / "marks.csv"])
    for verb, *words in verbs:
        run = subprocess.run(
            [sys.executable, "-m", "grader", verb, course, SHEET, *words],
            env={**os.environ, "LC_ALL": locale, "LANG": locale},
            capture_output=True,
            check=False,
        )
        assert run.returncode == (1 if verb == "grade" else 0), run.stderr.decode()
    pages = {path.parts[-3]: path.read_bytes() for path in course.glob("feedback/*/*/*.html")}
    return pages, (course / "marks.csv").read_bytes()


def test_names_paths_and_locales_change_nothing(handed_in, tmp_path):
    results = []
    for locale in ("C", "C.UTF-8"):
        course = shutil.copytree(handed_in, tmp_path / f"copia de {locale}")
        results.append(run_all(course, locale))
    assert results[0] == results[1]
    pages, table = results[0]
    assert set(pages) == {*CLASS, "broken"}
    assert b"<h1>rmsnorm: zo\xc3\xab &lt;b&gt;</h1>" in pages["zoë <b>"]
    rows = table.decode().splitlines()
    assert [row.split(",")[1] for row in rows if row.startswith(("broken", "nobody"))] == [
        "failed",
        "not submitted",
    ]


def test_what_hidden_tests_hand_in_does_not_reach_a_page(handed_in, tmp_path):
    course = shutil.copytree(handed_in, tmp_path / "spy")
    path = course / "submitted" / "o'neil" / SHEET / f"{SHEET}.ipynb"
    notebook = json.loads(path.read_bytes())
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == "half_rms"]
    cell["source"] = (
        "seen = []\n"
        "def half_rms(eps):\n"
        "    seen.append(eps)\n"
        "    print('SPY', eps)\n"
        "    return -1.0"
    )
    spy = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "print('SPY', seen)"}
    notebook["cells"].append(spy)
    path.write_text(json.dumps(notebook), "utf-8")
    pages, _ = run_all(course, "C.UTF-8")
    page = pages["o'neil"].decode()
    assert "seen.append" in page.replace("</span>", "").replace('<span class="n">', "").replace(
        '<span class="o">', ""
    )
    assert "SPY\n" not in page
    assert "Same inputs again" not in page
    assert '<pre class="outputs">SPY' not in page
