"""Grades and comments of a class, compared with what stands in the gradebook."""

from dataclasses import dataclass

from sqlalchemy import select

from grader.gradebook.tables import (
    ANSWERS,
    CELLS,
    COMMENTED_KINDS,
    COMMENTS,
    GRADED_KINDS,
    GRADES,
    change,
    insert,
    new_uuid,
)
from grader.records import Note

BY_HAND = "mark by hand"  # the kind of note that asks for another look


@dataclass(frozen=True)
class _Row:
    """What stands in the gradebook for one graded or commented cell of one student."""

    id: str
    by_hand: object  # a mark or a comment, or None
    waiting: bool
    digest: str | None  # of the answer that it was given for


class Marks:
    """Grades and comments: compared with what stands there, and written all at once.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction.
    assignment : str
        The sheet.
    kept : Kept
        The assignment in the database.
    notebooks : dict
        Ids of the submitted notebooks by student and name of the notebook.
    """

    def __init__(self, connection, assignment, kept, notebooks):
        self.connection = connection
        self.notebooks = notebooks
        self.names = {kept_id: name for name, kept_id in kept.notebooks.items()}
        self.prefix = {name: "" if name == assignment else f"{name}/" for name in kept.notebooks}
        self.cells = self._cells(kept)
        self.digests = dict(connection.execute(select(ANSWERS.c.id, ANSWERS.c.digest)).all())
        self.there = {
            GRADES: self._there(GRADES, GRADES.c.manual_score, GRADES.c.needs_manual_grade),
            COMMENTS: self._there(COMMENTS, COMMENTS.c.manual_comment, COMMENTS.c.id.is_(None)),
        }
        self.new = {GRADES: [], COMMENTS: []}
        self.changed = {GRADES: [], COMMENTS: []}
        self.new_digests, self.changed_digests = [], []

    def _cells(self, kept):
        """Return the graded and commented cells: name of the notebook, its row."""
        query = select(CELLS.c.id, CELLS.c.name, CELLS.c.type, CELLS.c.notebook_id)
        query = query.where(CELLS.c.notebook_id.in_(kept.notebooks.values()))
        query = query.order_by(CELLS.c.notebook_id, CELLS.c.type, CELLS.c.name)
        return [(self.names[row.notebook_id], row) for row in self.connection.execute(query)]

    def _there(self, table, by_hand, waiting):
        query = select(table.c.notebook_id, table.c.cell_id, table.c.id, by_hand, waiting)
        query = query.where(table.c.cell_id.in_([row.id for _, row in self.cells]))
        return {
            (notebook, cell): _Row(key, given, waits, self.digests.get(key))
            for notebook, cell, key, given, waits in self.connection.execute(query)
        }

    def keep(self, record):
        """Note what one record changes, and return the notes on marks given by hand."""
        judged = {cell.key: cell for cell in record.cells}
        answers = {answer.key: answer for answer in record.answers}
        notes = []
        for notebook, cell in self.cells:
            key = self.prefix[notebook] + cell.name
            place = (self.notebooks[record.student, notebook], cell.id)
            if cell.type in GRADED_KINDS:
                notes += self._keep_grade(place, cell.name, judged.get(key))
            if cell.type in COMMENTED_KINDS:
                notes += self._keep_comment(place, cell.name, answers.get(key))
        return notes

    def _keep_grade(self, place, name, judged):
        points, digest = (judged.points, judged.answer) if judged else (None, "")
        row = self.there[GRADES].get(place)
        given = row is not None and row.by_hand is not None
        changed = given and _is_another(row, digest)
        waiting = changed or row.waiting if given else points is None
        facts = {"auto_score": points, "needs_manual_grade": waiting}
        self._put(GRADES, place, row, facts, digest)
        if changed:
            yield Note(BY_HAND, name, f"the answer has changed since {name} was marked by hand")

    def _keep_comment(self, place, name, answer):
        digest = answer.digest if answer else ""
        row = self.there[COMMENTS].get(place)
        untouched = answer is not None and answer.untouched
        self._put(
            COMMENTS, place, row, {"auto_comment": "No response." if untouched else None}, digest
        )
        if row is not None and row.by_hand is not None and _is_another(row, digest):
            yield Note(BY_HAND, name, f"the answer has changed since {name} was commented by hand")

    def _put(self, table, place, row, facts, digest):
        """Note a new row, or what changes in the one that is there."""
        key = row.id if row else new_uuid()
        if row:
            self.changed[table].append({"key": key, **facts})
        else:
            notebook, cell = place
            self.new[table].append({"id": key, "notebook_id": notebook, "cell_id": cell, **facts})
        known = key in self.digests
        (self.changed_digests if known else self.new_digests).append(
            {"key" if known else "id": key, "digest": digest}
        )

    def write(self):
        """Write everything that was noted."""
        for table in (GRADES, COMMENTS):
            insert(self.connection, table, self.new[table])
            change(self.connection, table, self.changed[table])
        insert(self.connection, ANSWERS, self.new_digests)
        change(self.connection, ANSWERS, self.changed_digests)


def _is_another(row, digest):
    """Tell whether an answer is, or may be, another than the one that a row was made for."""
    return not digest or digest != row.digest
