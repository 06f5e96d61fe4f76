"""A submission laid beside the master: the master decides, the submission brings answers only."""

import re
from dataclasses import dataclass

from grader.engine import roles
from grader.records import Note

PLACE = re.compile(r"\s+")
KIND_WORDS = {"code": "code", "markdown": "text", "raw": "raw text"}


@dataclass(frozen=True)
class Placed:
    """A cell of the notebook that is run.

    Parameters
    ----------
    source : str
        What is run or shown: the master's text where the master decides, else the student's.
    kind : str
        ``"code"``, ``"markdown"`` or ``"raw"``.
    master : MasterCell or None
        The master's cell that it stands for; ``None`` for a cell of the student's own.
    missing : bool
        Whether it was put back.
    pictures : dict
        Attached pictures, by name.
    """

    source: str
    kind: str
    master: object = None
    missing: bool = False
    pictures: dict = None

    @property
    def untouched(self):
        """Whether an answer is still what the learner got."""
        return self.missing or self.source.strip() == self.master.released.strip()


def align(master, cells):
    """Lay a submission beside its master.

    Two copies of a cell: the changed one nearest before the test counts, else the first; of a
    test, the first one behind its answers. Cells keep the student's order; what is missing is put
    back behind the master's cell before it.

    Parameters
    ----------
    master : Master
        It decides.
    cells : list of Cell
        What was handed in.

    Returns
    -------
    placed : list of Placed
        What is run, in order.
    notes : list of Note
        What was found and mended.
    """
    notes = []
    names = [_match(master, cell) for cell in cells]
    _forgive_lost_metadata(master, cells, names, notes)
    chosen = _choose(master, cells, names, notes)
    placed = []
    for number, (cell, name) in enumerate(zip(cells, names, strict=True)):
        if name is None:
            placed.append(Placed(cell.source, cell.kind, pictures=cell.pictures))
        elif chosen[name] == number:
            placed.append(_place(master.by_name[name], cell, notes))
        elif master.by_name[name].role in (roles.ANSWER, roles.HAND):
            placed.append(Placed(cell.source, "raw", pictures=cell.pictures))
    _put_back(master, placed, notes)
    return placed, notes


def _match(master, cell):
    """Return the name of the master's cell that a cell stands for, or none."""
    return cell.grade_id if cell.grade_id in master.by_name else None


def _forgive_lost_metadata(master, cells, names, notes):
    """Recognise cells by their ids, and locked ones by their text, where a tool lost the rest."""
    by_id = {cell.id: cell for cell in master.by_name.values() if cell.id}
    locked = {
        _squeeze(cell.released): cell
        for cell in master.by_name.values()
        if cell.role in (roles.GRADED, roles.LOCKED)
    }
    for number, cell in enumerate(cells):
        if names[number] is None:
            found = by_id.get(cell.id) or locked.get(_squeeze(cell.source))
            if found is not None and found.name not in names:
                names[number] = found.name
                notes.append(
                    Note("lost metadata", found.name, f"{found.name} was recognised by its place.")
                )


def _choose(master, cells, names, notes):
    """Choose one cell for each name: the changed copy nearest its test, else the first.

    Of a test's copies the first one behind the chosen answers counts: there they are to be tested.
    """
    chosen = {}
    there = dict.fromkeys(filter(None, names))
    for name in sorted(there, key=lambda name: master.by_name[name].role == roles.GRADED):
        copies = [number for number, other in enumerate(names) if other == name]
        chosen[name] = copies[0]
        if len(copies) == 1:
            continue
        cell = master.by_name[name]
        if cell.role in (roles.ANSWER, roles.HAND):
            chosen[name] = _best_copy(master, cells, names, cell, copies)
        elif cell.role == roles.GRADED:
            answers = [chosen[one.name] for one in master.answers_of(cell) if one.name in chosen]
            behind = [number for number in copies if number > max(answers, default=-1)]
            chosen[name] = (behind or copies)[0]
        which = copies.index(chosen[name]) + 1
        text = f"{name} stands {len(copies)} times; copy {which} counts, the others are not run."
        notes.append(Note("duplicate", name, text))
    return chosen


def _best_copy(master, cells, names, cell, copies):
    """Take the changed copy that is nearest before the first test of the answer."""
    changed = [n for n in copies if cells[n].source.strip() not in ("", cell.released.strip())]
    tests = {test.name for test in master.scored if cell in master.answers_of(test)}
    first_test = next((n for n, name in enumerate(names) if name in tests), len(cells))
    before = [number for number in changed if number < first_test]
    return (before or changed or copies)[-1 if before else 0]


def _place(cell, handed_in, notes):
    """Take the student's text where the master asks for one, else the master's."""
    _compare(cell, handed_in, notes)
    if cell.role in (roles.ANSWER, roles.HAND) and not cell.meta.get("task"):
        return Placed(handed_in.source, cell.kind, cell, pictures=handed_in.pictures)
    if cell.role == roles.FREE:
        return Placed(handed_in.source, handed_in.kind, cell, pictures=handed_in.pictures)
    return Placed(cell.source, cell.kind, cell)


def _compare(cell, handed_in, notes):
    """Note what was done to a cell that was not to be changed."""

    def note(kind, text):
        notes.append(Note(kind, cell.name, f"{cell.name} {text}"))

    if handed_in.kind != cell.kind and cell.role != roles.FREE:
        was = KIND_WORDS[handed_in.kind]
        note("changed type", f"was turned into {was}; it is {KIND_WORDS[cell.kind]} again.")
    if cell.role in (roles.GRADED, roles.LOCKED):
        if _squeeze(handed_in.source) not in (_squeeze(cell.released), _squeeze(cell.source)):
            what = "test" if cell.role == roles.GRADED else "locked cell"
            note(f"edited {what}", "was edited; the master's text is run.")
    if cell.role in (roles.GRADED, roles.HAND) and handed_in.meta:
        points = handed_in.meta.get("points")
        if points != cell.meta.get("points"):
            note("changed points", f"asks for {points!r:.20} points; it is worth {cell.points:g}.")
    unlocked = cell.meta.get("locked") and handed_in.meta and not handed_in.meta.get("locked")
    if unlocked:
        note("unlocked", "was unlocked; the master's text is run.")


def _put_back(master, placed, notes):
    """Add the master's cells that are missing, each behind its predecessor."""
    there = {cell.master.name for cell in placed if cell.master is not None}
    before = None
    for cell in master.cells:
        if not cell.meta:
            continue
        if cell.name not in there:
            source = cell.source if cell.role in (roles.GRADED, roles.LOCKED) else ""
            place = 0 if before is None else _place_of(placed, before) + 1
            placed.insert(place, Placed(source, cell.kind, cell, missing=True))
            what = "test" if cell.role == roles.GRADED else "cell"
            done = "it was put back" if source else "there is nothing to mark"
            kind = "missing answer" if not source else f"missing {what}"
            notes.append(Note(kind, cell.name, f"{cell.name} was deleted; {done}."))
        before = cell


def _place_of(placed, cell):
    return next(i for i, other in enumerate(placed) if other.master is cell)


def _squeeze(text):
    """Leave out white space: an editor may change it, and no test means it."""
    return PLACE.sub("", text)
