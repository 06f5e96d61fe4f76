"""Reports and exports of a class: every number counted by hand once, nothing mistaken for a 0."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace

import browser
import pytest
from classes import GRADED_CELLS, IN_WORDS, SHEET, make_small_course, record
from nbgrader.api import Gradebook

from grader import cli, exporting, gradebook
from grader.course import Course
from grader.records import FAILED, NOT_SUBMITTED, Note, Record, write_record

pytestmark = pytest.mark.marking
POLICY = 'timezone = "Europe/Madrid"\npercent_per_day = 10\n[due]\nrmsnorm = 2026-10-24T23:59:00\n'
EPS_OUTSIDE = "ε outside the root"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return make_small_course(folder / "otoño 1", folder)


def with_mistake(marked, name):
    """Name a mistake behind each cell that was lost."""
    cells = (replace(c, mistakes=(name,) if c.points == 0 else ()) for c in marked.cells)
    return replace(marked, cells=tuple(cells))


@pytest.fixture
def course(made, tmp_path):
    """A class of seven: settled, late, zero, waiting, broken, absent, and known by name alone."""
    course = Course.open(shutil.copytree(made, tmp_path / "una copia"))
    (course.folder / "late.toml").write_text(POLICY)
    late = "2026-10-25T12:00:00+01:00"
    wrong = with_mistake(record("bob", ["half_rms-value"], submitted=late), EPS_OUTSIDE)
    records = [
        record("=ana+1", seconds=2.5, notes=(Note("duplicate", "half_rms", "two copies"),)),
        wrong,
        with_mistake(record("carl", ["half_rms-value", "rmsnorm_forward-eps"]), EPS_OUTSIDE),
        record("dora", untouched=True),
        Record("eve <b>", SHEET, FAILED, "not a readable notebook: it has no cells"),
        Record("finn", SHEET, NOT_SUBMITTED, "nothing handed in"),
    ]
    for one in records:
        write_record(course.folder, one)
    gradebook.store(course, SHEET, records)
    with Gradebook(course.directory().db_url, course.directory().course_id) as book:
        book.add_student("gus")
        for student, points in (("=ana+1", 4.5), ("bob", 0)):
            grade = book.find_grade(IN_WORDS, SHEET, SHEET, student)
            grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()
    return course


def run(capsys, *words):
    code = cli.main([str(word) for word in words])
    return code, *capsys.readouterr()


def exported(course, capsys, *words):
    code, out, err = run(capsys, "export", course.folder, SHEET, *words)
    return code, list(csv.DictReader(io.StringIO(out))), err


def test_missing_waiting_and_nothing_won_are_three_things(course, capsys):
    code, rows, err = exported(course, capsys)
    told = {row["student"]: (row["status"], row["points"], row["total"]) for row in rows}
    assert code == 0
    assert told == {
        "'=ana+1": ("graded", "98.5", "98.5"),
        "bob": ("graded", "88", "78"),
        "carl": ("waiting for a marker", "82", ""),
        "dora": ("graded", "0", "0"),
        "eve <b>": ("failed", "", ""),
        "finn": ("not submitted", "", ""),
        "gus": ("not submitted", "", ""),
    }
    assert err == (
        "carl: waiting for a marker\neve <b>: failed\nfinn: not submitted\ngus: not submitted\n"
    )


@pytest.mark.parametrize("name", ["=1", "+1", "-1", "@a", " =1", "＝1"])
def test_no_name_is_computed_by_a_spreadsheet(name):
    assert exporting._plain(name) == f"'{name}"
    assert exporting._plain(f"a{name}") == f"a{name}"


def test_each_question_has_a_column_and_only_marks_are_numbers(course, capsys):
    _, rows, _ = exported(course, capsys)
    assert list(rows[0])[3:-4] == list(GRADED_CELLS)
    by_student = {row["student"]: row for row in rows}
    assert by_student["bob"]["half_rms-value"] == "0"
    assert by_student["bob"][IN_WORDS] == "0"
    assert by_student["carl"][IN_WORDS] == ""
    assert by_student["finn"]["half_rms-value"] == ""
    assert by_student["bob"]["penalty"] == "10"


def test_a_table_can_be_written_to_a_file(course, capsys, tmp_path):
    _, out, _ = run(capsys, "export", course.folder, SHEET, "--to", tmp_path / "x.csv")
    assert out == ""
    assert (tmp_path / "x.csv").read_text("utf-8").count("\n") == 8


CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,rmsnorm (77),swiglu (78)
    Points Possible,,,,,100,100
"Lee, Bob",888,,bob,A,,5
"Ray, Carl",889,,carl,A,50,5
"Roe, Dora",890,dora,,A,,5
"Smith, Ana",12345,,asmith,A,3,5
"Zed, Zoë",891,,zoe,A,4,5
"Student, Test",,,,A,,
"""


def test_canvas_s_table_gets_the_totals_and_keeps_what_is_open(course, capsys, tmp_path):
    (tmp_path / "canvas.csv").write_text(CANVAS, "utf-8")
    (course.folder / "collected").mkdir()
    (course.folder / "collected" / "swiglu.json").write_text(
        json.dumps({"students": {"=ana+1": {"system": "canvas", "user": "12345"}}})
    )
    words = ("--for", "canvas", "--roster", tmp_path / "canvas.csv")
    code, rows, _ = exported(course, capsys, *words)
    assert code == 0
    assert list(rows[0]) == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "rmsnorm (77)",
    ]
    assert {row["Student"]: row["rmsnorm (77)"] for row in rows} == {
        "    Points Possible": "100",
        "Lee, Bob": "78",
        "Ray, Carl": "",
        "Roe, Dora": "0",
        "Smith, Ana": "98.5",
        "Zed, Zoë": "",
        "Student, Test": "",
    }


def test_canvas_may_write_the_sheet_s_name_with_capitals(course, capsys, tmp_path):
    (tmp_path / "canvas.csv").write_text(CANVAS.replace("rmsnorm (", "RMSNorm ("), "utf-8")
    words = ("--for", "canvas", "--roster", tmp_path / "canvas.csv")
    _, rows, _ = exported(course, capsys, *words)
    assert {row["Student"]: row["RMSNorm (77)"] for row in rows}["Lee, Bob"] == "78"


def test_a_student_who_is_not_in_the_roster_is_named(course, capsys, tmp_path):
    (tmp_path / "canvas.csv").write_text(CANVAS.replace(",bob,", ",robert,"), "utf-8")
    words = ("--for", "canvas", "--roster", tmp_path / "canvas.csv")
    code, _, err = exported(course, capsys, *words)
    assert code == 1
    assert err.startswith("=ana+1 is not in the roster\nbob is not in the roster\n")


MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments
Participant 11,Bob Lee,bob@example.org,Submitted,,100.00,
Participant 12,carl,c@example.org,Submitted,7,100.00,kept
Participant 13,Dora Roe,dora,Submitted,,100.00,
Participant 14,Finn Day,f@example.org,No submission,,100.00,
"""


def test_moodle_s_worksheet_gets_the_totals_and_keeps_its_other_columns(course, capsys, tmp_path):
    (tmp_path / "moodle.csv").write_text(MOODLE, "utf-8")
    (course.folder / "collected").mkdir()
    (course.folder / "collected" / f"{SHEET}.json").write_text(
        json.dumps({"students": {"bob": {"system": "moodle", "user": "11"}}})
    )
    words = ("--for", "moodle", "--roster", tmp_path / "moodle.csv")
    code, rows, err = exported(course, capsys, *words)
    assert (code, err.splitlines()[0]) == (1, "=ana+1 is not in the roster")
    assert [(r["Full name"], r["Grade"], r["Feedback comments"]) for r in rows] == [
        ("Bob Lee", "78", ""),
        ("carl", "7", "kept"),
        ("Dora Roe", "0", ""),
        ("Finn Day", "", ""),
    ]


@pytest.mark.parametrize(
    ("words", "table", "said"),
    [
        (
            ["--for", "canvas"],
            "",
            "--for and --roster go together: which system, and its own table",
        ),
        (
            ["--for", "canvas", "--roster"],
            "a,b\n",
            "{file}: wants Canvas's own export with the columns ID and rmsnorm: it has a, b",
        ),
        (
            ["--for", "moodle", "--roster"],
            "a,b\n",
            "{file}: wants Moodle's grading worksheet, with the columns Identifier and Grade",
        ),
        (
            ["--for", "moodle", "--roster"],
            MOODLE.replace("100.00", "10,00").replace(",10,00,", ',"10,00",'),
            "{file}: rmsnorm has 100 points and Moodle counts to 10: set its maximum to 100",
        ),
    ],
)
def test_a_table_that_does_not_fit_gets_one_line(course, capsys, tmp_path, words, table, said):
    file = tmp_path / "roster.csv"
    file.write_text(table)
    words = [*words, file] if words[-1] == "--roster" else words
    code, out, err = run(capsys, "export", course.folder, SHEET, *words)
    assert (code, out, err) == (2, "", said.format(file=file) + "\n")


# The report


def facts_of(course, capsys):
    code, out, err = run(capsys, "report", course.folder, SHEET, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_report_counts_claims_mistakes_and_points(course, capsys):
    facts = facts_of(course, capsys)
    assert facts["students"] == {
        "graded": 3,
        "waiting for a marker": 1,
        "failed": 1,
        "not submitted": 2,
    }
    assert facts["points"] == {
        "of": 100,
        "mean": 67.12,
        "median": 85.0,
        "lowest": 0,
        "highest": 98.5,
    }
    claims = {claim["cell"]: claim for claim in facts["claims"]}
    assert list(claims) == list(GRADED_CELLS)
    half = claims["half_rms-value"]
    assert (half["full"], half["rate"], half["mean"]) == (1, 0.25, 1.5)
    assert half["outcomes"] == {"passed": 1, "wrong": 2, "untouched": 1}
    assert (claims[IN_WORDS]["full"], claims[IN_WORDS]["rate"]) == (0, 0.0)
    assert [(m["exercise"], m["mistake"], m["students"]) for m in facts["mistakes"]] == [
        ("half_rms", EPS_OUTSIDE, 2),
        ("rmsnorm_forward", EPS_OUTSIDE, 1),
    ]
    assert facts["seconds"] == 2.5
    assert facts["notes"] == [
        {"kind": "duplicate", "student": "=ana+1", "cell": "half_rms", "text": "two copies"}
    ]
    assert [one["student"] for one in facts["open"]] == ["carl", "eve <b>", "finn", "gus"]


def test_the_question_behind_a_catalogued_mistake_is_told(course, capsys):
    from grader.checks import find_exercise

    known = find_exercise("half_rms").mistakes[0]
    marked = with_mistake(record("bob", ["half_rms-value"]), known.name)
    write_record(course.folder, marked)
    assert known.question in [
        mistake["question"] for mistake in facts_of(course, capsys)["mistakes"]
    ]


def test_the_command_writes_a_page_and_prints_what_matters_most(course, capsys):
    code, out, err = run(capsys, "report", course.folder, SHEET)
    page = (course.folder / "reports" / f"{SHEET}.html").read_text("utf-8")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == " 25 % full marks: half_rms-value, claim of half_rms-value"
    assert f"  2 students: {EPS_OUTSIDE} in half_rms\n" in out
    assert "eve &lt;b&gt;" in page
    assert not re.search("<script|<b>", page)


def test_the_page_shows_a_bar_for_each_claim_and_asks_nobody_for_anything(course, capsys):
    run(capsys, "report", course.folder, SHEET)
    asked, told = [], []
    with browser.browsing() as chromium:
        tab = chromium.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: told.append(message.text))
        tab.goto((course.folder / "reports" / f"{SHEET}.html").as_uri())
        widths = tab.locator("svg rect.bar-lost").evaluate_all(
            "r => r.map(e => +e.getAttribute('width'))"
        )
    assert widths == [100, 200]  # of 400: one and two of the four that were marked
    assert (len(asked), told) == (1, [])


def test_a_class_of_nobody_has_a_report_too(made, capsys, tmp_path):
    course = Course.open(shutil.copytree(made, tmp_path / "nobody"))
    assert run(capsys, "report", course.folder, SHEET)[0] == 0
    assert facts_of(course, capsys)["claims"] == []
