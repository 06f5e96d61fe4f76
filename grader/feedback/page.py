"""The page of one student, from the record, the gradebook and the marked notebook.

What was printed while hidden tests ran is not in it: outputs are those that the learner handed in.
"""

from collections import defaultdict

from grader.collecting.candidates import answer_ids, find_submission
from grader.engine.reading import bytes_of, parse
from grader.feedback import rendering
from grader.files import write_whole
from grader.pages import render
from grader.records import GRADED, NOT_SUBMITTED
from grader.standing import standings


def write_feedback(course, assignment, students=None, db=None):
    """Write the pages of a class to where nbgrader puts them.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    students : list of str, optional
        Only these; everybody who handed in otherwise.
    db : str, optional
        URL of another database than the one that the course's settings name.

    Returns
    -------
    paths : list of Path
        ``feedback/STUDENT/SHEET/SHEET.html`` for each.
    """
    paths = []
    ids = {path.name: answer_ids(path.read_bytes()) for path in course.masters(assignment)}
    for standing in standings(course, assignment, db):
        student = standing.record.student
        if standing.record.status == NOT_SUBMITTED or (students and student not in students):
            continue
        path = course.notebook("feedback", student, assignment).with_suffix(".html")
        write_whole(path, feedback_page(course, standing, ids).encode())
        paths.append(path)
    return paths


def feedback_page(course, standing, ids):
    """Return the page of one student as text.

    Parameters
    ----------
    course : Course
        The course folder.
    standing : Standing
        Where the student stands.
    ids : dict
        Grade ids by file name of the sheet's masters.
    """
    record = standing.record
    parts = []
    if record.status == GRADED:
        for name in ids:
            parts += _parts(course, standing, name, ids[name])
    return render("feedback.html", standing=standing, record=record, parts=parts)


def _parts(course, standing, name, ids):
    """Return what the page shows of one notebook, cell by cell."""
    record = standing.record
    folder = course.notebook("autograded", record.student, record.assignment).parent
    handed_in, _ = find_submission(
        course.notebook("submitted", record.student, record.assignment).parent, name, ids
    )
    printed = _outputs_by_source(_cells(handed_in))
    prefix = "" if name == f"{record.assignment}.ipynb" else name.removesuffix("ipynb")[:-1] + "/"
    graded, room = {cell.key: cell for cell in record.cells}, rendering.Room()
    for cell in _cells(folder / name):
        key = prefix + str((cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id", ""))
        source = rendering.joined(cell.get("source"))
        claim = graded.get(key)
        mark = standing.marks.get(key)
        part = {
            "claim": claim,
            "mark": standing.mark(claim) if claim else None,
            "comment": rendering.markdown(mark.comment) if mark and mark.comment else "",
            "markdown": "",
            "code": "",
            "outputs": [],
        }
        if claim and not claim.by_hand:
            yield part  # the claim in words and its sentence; the test itself stays with us
        elif cell.get("cell_type") == "code":
            outputs = printed[source].pop(0) if printed[source] else []
            yield part | {"code": room.code(source), "outputs": outputs}
        else:
            yield part | {"markdown": room.markdown(source)}


def _cells(path):
    """Return the cells of a notebook file; none if it is not there or not readable."""
    try:
        cells = parse(bytes_of(path))["cells"] if path else []
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _outputs_by_source(cells):
    """Return the outputs of the cells with a text, in their order, by that text."""
    printed = defaultdict(list)
    for cell in cells:
        if cell.get("cell_type") == "code":
            printed[rendering.joined(cell.get("source"))].append(rendering.outputs(cell))
    return printed
