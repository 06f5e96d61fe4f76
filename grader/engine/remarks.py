"""The one line on a submission that an instructor reads first."""

from grader.records import CRASHED, TIMED_OUT, UNTOUCHED, WRONG


def remark_on(record):
    """Say in one line what an instructor should know first."""
    automatic = [cell for cell in record.cells if not cell.by_hand]
    answered = [cell for cell in record.cells if cell.outcome != UNTOUCHED]
    if record.cells and not answered:
        return "; ".join(["all answers untouched", *_told_notes(record.notes)])
    parts = {
        "timed out": [cell for cell in automatic if cell.outcome == TIMED_OUT],
        "stopped the notebook": [cell for cell in automatic if cell.outcome == CRASHED],
        "no points": [c for c in automatic if c.outcome in (WRONG, UNTOUCHED) and not c.points],
        "part of the points": [c for c in automatic if c.points and c.points < c.max_points],
    }
    told = [f"{what}: {listed([c.name for c in cells])}" for what, cells in parts.items() if cells]
    return "; ".join([*told, *_told_notes(record.notes)])


def _told_notes(notes):
    """Count notes by kind."""
    kinds = [note.kind for note in notes if note.kind not in (TIMED_OUT, CRASHED)]
    return [
        _told_kind(kind, [note.cell for note in notes if note.kind == kind])
        for kind in dict.fromkeys(kinds)
    ]


def _told_kind(kind, cells):
    """Name the cells that notes of one kind are about."""
    named = list(dict.fromkeys(filter(None, cells)))
    return f"{kind}: {listed(named)}" if named else kind


def listed(names, most=4):
    """List names, the first few in full."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
