"""The cells of an assignment, brought from its masters into the gradebook."""

import hashlib
from dataclasses import dataclass
from itertools import takewhile

from nbgrader import api
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from grader.errors import UserError
from grader.gradebook.tables import ANSWERS, COMMENTS, GRADES, MASTERS


@dataclass(frozen=True)
class Kept:
    """An assignment as the gradebook keeps it.

    Parameters
    ----------
    id : str
        The assignment's id in the database.
    notebooks : dict
        The notebooks' ids by name.
    """

    id: str
    notebooks: dict


def keep_assignment(connection, course, assignment):
    """Make the gradebook know an assignment's notebooks and cells as the masters have them.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction.
    course : Course
        The course folder.
    assignment : str
        The sheet, in ``source/``.

    Returns
    -------
    kept : Kept
        Where they are in the database.

    Raises
    ------
    UserError
        If a cell with a mark or comment by hand is not in the masters any more.
    """
    with Session(connection) as session:
        row = _one(session, api.Assignment, name=assignment)
        if row is None:
            home = session.merge(api.Course(id=course.directory().course_id or "default_course"))
            row = api.Assignment(name=assignment, course_id=home.id)
            session.add_all([home, row])
        session.flush()
        notebooks = {}
        for path in course.masters(assignment):
            notebook = _one(session, api.Notebook, name=path.stem, assignment_id=row.id)
            notebook = notebook or api.Notebook(name=path.stem, assignment_id=row.id)
            session.add(notebook)
            session.flush()
            _keep_cells(session, course, notebook, path)
            notebooks[path.stem] = notebook.id
        session.flush()
        return Kept(row.id, notebooks)


def _one(session, kind, **facts):
    return session.scalars(select(kind).filter_by(**facts)).one_or_none()


def _keep_cells(session, course, notebook, path):
    """Bring the cells of one notebook up to date, unless they came from these very bytes."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = session.scalar(select(MASTERS.c.digest).where(MASTERS.c.id == notebook.id))
    if known == digest:
        return
    wanted = {}
    for cell in _stripped(path, course.config).cells:
        wanted.update(_rows(cell))
    there = {(type(cell), cell.name): cell for cell in notebook._base_cells}
    there |= {(api.SourceCell, cell.name): cell for cell in notebook.source_cells}
    for key in there.keys() - wanted.keys():
        _remove(session, there[key])
    for (kind, name), facts in wanted.items():
        cell = there.get((kind, name)) or kind(name=name, notebook_id=notebook.id)
        for fact, value in facts.items():
            setattr(cell, fact, value)
        session.add(cell)
    session.execute(delete(MASTERS).where(MASTERS.c.id == notebook.id))
    session.execute(insert(MASTERS).values(id=notebook.id, digest=digest))


def _stripped(path, config):
    """Take nbgrader's own steps on a master, up to the one that saves its cells."""
    import nbformat
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells

    notebook, resources = nbformat.read(path, as_version=4), {}
    for step in takewhile(lambda s: s is not SaveCells, GenerateAssignment.preprocessors.default()):
        notebook, resources = step(config=config).preprocess(notebook, resources)
    return notebook


def _rows(cell):
    """Return what the gradebook keeps of a cell: facts by the kind of row and the name."""
    from nbgrader import utils

    graded, task, answer = utils.is_grade(cell), utils.is_task(cell), utils.is_solution(cell)
    if not (graded or task or answer or utils.is_locked(cell)):
        return {}
    meta = cell.metadata.nbgrader
    source = {
        "cell_type": cell.cell_type,
        "locked": utils.is_locked(cell),
        "source": cell.source,
        "checksum": meta.get("checksum"),
    }
    rows = {(api.SourceCell, meta.grade_id): source}
    if answer:
        rows[api.SolutionCell, meta.grade_id] = {}
    for is_one, kind in ((graded, api.GradeCell), (task, api.TaskCell)):
        if is_one:
            facts = {"max_score": float(meta.points), "cell_type": cell.cell_type}
            rows[kind, meta.grade_id] = facts
    return rows


def _remove(session, cell):
    """Remove a cell that the master has no more, with its marks, unless a person gave one."""
    for table, by_hand in ((GRADES, GRADES.c.manual_score), (COMMENTS, COMMENTS.c.manual_comment)):
        rows = session.execute(select(table.c.id, by_hand).where(table.c.cell_id == cell.id)).all()
        if any(given is not None for _, given in rows):
            raise UserError(
                f"{cell.name} is not in source/ any more, and was marked or commented by hand: "
                "put the cell back, or make a new course folder"
            )
        ids = [row.id for row in rows]
        session.execute(delete(table).where(table.c.id.in_(ids)))
        session.execute(delete(ANSWERS).where(ANSWERS.c.id.in_(ids)))
    session.delete(cell)
