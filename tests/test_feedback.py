"""Feedback: everything a learner should know, and nothing that runs, loads, or is hidden."""

import base64
import json
import re
import shutil

import browser
import pytest
from classes import ANSWERS, IN_WORDS, NOTEBOOK, SHEET, make_small_course, record
from nbgrader.api import Gradebook

from grader import cli, gradebook
from grader.course import Course
from grader.feedback import rendering, write_feedback
from grader.feedback.formulas import formula
from grader.records import FAILED, NOT_SUBMITTED, Record, write_record

pytestmark = pytest.mark.marking
HOSTILE = """
<script>document.title = "taken"</script>
<img src=x onerror="document.title = 'taken'">
<img src="https://elsewhere.example/pixel.png">
<svg onload="document.title = 'taken'"><script>document.title = "taken"</script></svg>
<iframe src="https://elsewhere.example"></iframe>
<style>* { display: none }</style>
<math><mtext></form><form><mglyph><style></math><img src onerror="document.title='taken'">
<div class="claim passed" id="claim-half_rms-value" style="position: fixed">full marks</div>
<form action="https://elsewhere.example"><button>Send</button></form>
<meta http-equiv="refresh" content="0; url=https://elsewhere.example">
<a href="javascript:document.title='taken'">click</a>
[click](javascript:document.title='taken')
[click](data:text/html,<script>document.title='taken'</script>)
![x](https://elsewhere.example/x.png)
$\\text{<script>document.title='taken'</script>}$ $\\href{javascript:document.title='taken'}{x}$
\x1b[31m \ue0000\ue001 \u202e \x00 \ud800 `</pre><script>document.title='taken'</script>`
""".replace("\ud800", "")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and no more").decode()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return make_small_course(folder / "otoño 1", folder)


@pytest.fixture
def course(made, tmp_path):
    return Course.open(shutil.copytree(made, tmp_path / "una copia"))


def notebook(answers, printed=(), secret="", extra=()):
    """Return the sheet with other answers and outputs, and a secret wherever tests have run."""
    sheet = json.loads(NOTEBOOK.read_text("utf-8"))
    for cell in sheet["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        cell["source"] = answers.get(meta.get("grade_id"), cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"] = list(printed) if meta.get("solution") else []
            if secret and meta.get("grade"):
                cell["source"] += f"\n# {secret}"
            if secret:
                cell["outputs"] += [{"output_type": "stream", "name": "stdout", "text": secret}]
    sheet["cells"] += extra
    return json.dumps(sheet)


def hand_in(course, marked, answers=None, printed=(), secret="", extra=()):
    """Put a notebook and its marked copy, in which the secret is printed, where they belong."""
    student = marked.student
    write_record(course.folder, marked)
    for step, hidden in (("submitted", ""), ("autograded", secret)):
        path = course.notebook(step, student, SHEET)
        path.parent.mkdir(parents=True)
        path.write_text(notebook(answers or {}, printed, hidden, extra), "utf-8")


def page_of(course, student):
    return (course.folder / "feedback" / student / SHEET / f"{SHEET}.html").read_text("utf-8")


def test_a_page_says_what_was_won_and_why_something_was_not(course):
    marked = record("zoë <b>", ["half_rms-value"], sentence="Where does ε < s stand?")
    hand_in(course, marked, {"half_rms": "def half_rms(eps):\n    return eps < 3"})
    gradebook.store(course, SHEET, [marked])
    (path,) = write_feedback(course, SHEET)
    page = path.read_text("utf-8")
    assert path == course.folder / "feedback" / "zoë <b>" / SHEET / f"{SHEET}.html"
    assert "<h1>rmsnorm: zoë &lt;b&gt;</h1>" in page
    assert "88 of 100 points</strong>, so far: an answer is waiting for a marker." in page
    assert "0 of 6 · claim of half_rms-value" in page
    assert "Where does ε &lt; s stand?" in page
    assert page.count("✓") == 17
    assert '<span class="k">return</span>' in page


def test_a_marker_s_points_and_words_are_in_it(course):
    marked = record("ana", submitted="2026-10-25T12:00:00+01:00")
    hand_in(course, marked, {IN_WORDS: "Because of **rank** one: $x^2$."})
    gradebook.store(course, SHEET, [marked])
    with Gradebook(course.directory().db_url, course.directory().course_id) as book:
        grade = book.find_grade(IN_WORDS, SHEET, SHEET, "ana")
        grade.manual_score, grade.needs_manual_grade = 4.5, False
        for name, text in ((IN_WORDS, "Say *why*."), ("half_rms", "Neat. <script>")):
            book.find_comment(name, SHEET, SHEET, "ana").manual_comment = text
        book.db.commit()
    (course.folder / "late.toml").write_text(
        'timezone = "Europe/Madrid"\npercent_per_day = 10\n[due]\nrmsnorm = 2026-10-24T23:59:00\n'
    )
    assert cli.main(["feedback", str(course.folder), SHEET, "--student", "ana"]) == 0
    page = page_of(course, "ana")
    assert "98.5 of 100 points</strong>." in page
    assert "Less 10 for being late: 88.5." in page
    assert "Say <em>why</em>." in page
    assert "Neat. " in page
    assert "<strong>rank</strong> one: <math" in page


def test_outputs_are_those_that_were_handed_in(course):
    printed = [
        {"output_type": "stream", "name": "stdout", "text": ["mine & ", "yours"]},
        {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": "<Figure>"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["secret"]},
        {"output_type": "execute_result", "data": {"text/html": "<b>x</b>", "text/plain": "'x'"}},
    ]
    marked = record("ana")
    hand_in(course, marked, {"half_rms": "1 + 1"}, printed, secret="SECRET 0.123")
    gradebook.store(course, SHEET, [marked])
    write_feedback(course, SHEET)
    page = page_of(course, "ana")
    for shown in (
        "mine &amp; yours",
        f"data:image/png;base64,{PNG}",
        "ValueError: no",
        "&#39;x&#39;",
    ):
        assert shown in page
    assert "SECRET" not in page
    assert "from grader import check" not in page.replace("from grader import check, ready", "")


@pytest.mark.parametrize("outputs", [5, "x", ["x"], [{"data": "x"}], [[1]], {"a": 1}, None])
def test_outputs_of_no_form_are_left_out(outputs):
    assert rendering.outputs({"outputs": outputs}) == []


def test_who_handed_in_what_cannot_be_read_is_told_so_and_who_did_not_gets_no_page(course):
    write_record(course.folder, Record("ana", SHEET, FAILED, "not a readable notebook: <cut> off"))
    write_record(course.folder, Record("bob", SHEET, NOT_SUBMITTED))
    write_feedback(course, SHEET)
    assert "could not be marked. not a readable notebook: &lt;cut&gt; off" in page_of(course, "ana")
    assert not (course.folder / "feedback" / "bob").exists()


HOSTILE_OUTPUTS = [
    {"output_type": "display_data", "data": {"text/html": HOSTILE, "image/svg+xml": HOSTILE}},
    {"output_type": "display_data", "data": {"application/javascript": "document.title='taken'"}},
    {"output_type": "display_data", "data": {"image/png": 'x" onerror="document.title=1'}},
    {"output_type": "stream", "name": HOSTILE, "text": HOSTILE},
    {"output_type": "error", "ename": HOSTILE, "evalue": HOSTILE, "traceback": [HOSTILE]},
]


@pytest.fixture
def hostile_page(course):
    extra = [
        {"cell_type": "markdown", "metadata": {}, "source": HOSTILE},
        {"cell_type": "raw", "metadata": {}, "source": HOSTILE},
        {"cell_type": "code", "metadata": {}, "source": HOSTILE, "outputs": HOSTILE_OUTPUTS},
    ]
    # A student's id is the name of a folder: the slash cannot be in it.
    marked = record("<img src=x onerror=1>", ["half_rms-value"], sentence=HOSTILE, label=HOSTILE)
    hand_in(course, marked, dict.fromkeys(ANSWERS, HOSTILE), HOSTILE_OUTPUTS, extra=extra)
    gradebook.store(course, SHEET, [marked])
    (path,) = write_feedback(course, SHEET)
    return path


def test_nothing_in_a_hostile_page_is_an_element_or_attribute_that_acts(hostile_page):
    page = hostile_page.read_text("utf-8")
    assert not re.search(r"<(script|iframe|svg|form|object|embed|base|link)\b", page)
    assert page.count("<style>") == 1
    assert page.count("http-equiv") - page.count("&#34;refresh") >= 1
    tags = re.findall(r"<[a-z][^>]*>", page)
    assert not [tag for tag in tags if re.search(r"\son\w+\s*=|javascript:|elsewhere", tag)]
    assert not re.search("[\x00\u202e\x1b]", page)


def test_a_hostile_page_does_nothing_in_a_browser(hostile_page):
    asked = []
    with browser.browsing() as chromium:
        tab = chromium.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(hostile_page.as_uri())
        for link in tab.locator("main a:not([href^='#'])").all():
            link.dispatch_event("click")
        title = tab.title()
        hidden = tab.locator("h1").evaluate("e => getComputedStyle(e).display")
    assert title == "rmsnorm: <img src=x onerror=1>"
    assert hidden == "block"
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        ("x^2", "<msup>"),
        (r"\frac{1}{d}\sum_j x_j^2 + \varepsilon", "<mfrac>"),
        (r"\text{a < b}", "<mtext>a\xa0&lt;\xa0b</mtext>"),
        (r"\text{<script>}", "<mtext>&lt;script&gt;</mtext>"),
        ("}{", "<code>}{</code>"),
        (r"\nosuchcommand <b>", r"<code>\nosuchcommand &lt;b&gt;</code>"),
        ("x" * 5000, "<code>xxxx"),
    ],
)
def test_a_formula_is_mathml_or_its_own_text(tex, shown):
    assert shown in formula(tex, False)


def test_a_formula_keeps_its_number():
    assert '<span class="tag">(22.3)</span>' in formula(r"a = b \tag{22.3}", True)


def test_a_formula_brings_no_attribute_that_acts():
    for tex in (r"\href{javascript:1}{x}", r"\style{position:fixed}{x}", r"\class{claim}{x}"):
        assert not re.search("href|style=|class=", formula(tex, False))


def test_all_formulas_of_the_sheets_are_understood():
    for sheet in NOTEBOOK.parent.glob("*.ipynb"):
        for cell in json.loads(sheet.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                shown = rendering.markdown("".join(cell["source"]))
                assert not re.search(r"<code>[^<]*\\[a-z]", shown), sheet.name


def test_endless_text_is_cut():
    assert len(rendering.text("x" * 10**7)) < 60_000
    assert len(rendering.Room().markdown("*" * 10**6)) < 60_000
    assert len(rendering.Room().code("x = 1\n" * 10**5)) < 60_000


def test_a_page_has_room_for_so_much_that_is_typeset_and_no_more():
    room = rendering.Room(size=10)
    assert "<strong>" in room.markdown("**a**")
    assert "<strong>" in room.markdown("**b**")
    assert room.markdown("**c** <") == "<pre>**c** &lt;</pre>"
    assert room.code("x = '<'") == "x = &#x27;&lt;&#x27;"
