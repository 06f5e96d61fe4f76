"""A class without marking it: a course with one sheet, and records as an engine would give them."""

import hashlib
import json
import shutil
from pathlib import Path

from grader.course import make_course
from grader.records import (
    GRADED,
    PASSED,
    UNTOUCHED,
    WAITING,
    WRONG,
    AnswerRecord,
    CellRecord,
    Record,
)

REPOSITORY = Path(__file__).resolve().parent.parent
SHEET = "rmsnorm"
NOTEBOOK = REPOSITORY / "notebooks" / f"{SHEET}.ipynb"
CELLS = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
META = [cell["metadata"]["nbgrader"] for cell in CELLS if "nbgrader" in cell["metadata"]]
GRADED_CELLS = {meta["grade_id"]: meta for meta in META if meta["grade"]}
ANSWERS = [meta["grade_id"] for meta in META if meta["solution"]]
IN_WORDS = "rank_one_in_words"


def make_small_course(folder, scratch):
    """Make a course that has the RMSNorm sheet alone, from a repository in a scratch folder."""
    sheets = scratch / "solutions"
    sheets.mkdir(parents=True)
    shutil.copy(REPOSITORY / "solutions" / f"{SHEET}.md", sheets)
    make_course(folder, scratch)
    return folder


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def record(
    student, lost=(), answers=None, untouched=False, sentence="", label="claim of {}", **facts
):
    """Return the record of a submission: full marks, but for the cells that are lost.

    ``answers`` gives other texts for some answers, by grade id; they change the digests.
    ``sentence`` is what each lost cell tells, ``label`` what each claims.
    """
    texts = {name: f"{name} of {student}" for name in ANSWERS} | (answers or {})
    cells, answer = [], ""
    for meta in META:
        name = meta["grade_id"]
        if meta["solution"]:
            answer = digest(texts[name])
        if not meta["grade"]:
            continue
        by_hand = meta["solution"]
        if untouched:
            outcome, points = UNTOUCHED, 0.0
        elif by_hand:
            outcome, points = WAITING, None
        else:
            outcome, points = (WRONG, 0.0) if name in lost else (PASSED, float(meta["points"]))
        cells.append(
            CellRecord(
                name,
                label.replace("{}", name),
                outcome,
                points,
                float(meta["points"]),
                answer=answer,
                by_hand=by_hand,
                sentence=sentence if name in lost else "",
            )
        )
    return Record(
        student,
        SHEET,
        GRADED,
        cells=tuple(cells),
        answers=tuple(AnswerRecord(name, digest(texts[name]), untouched) for name in ANSWERS),
        **facts,
    )
