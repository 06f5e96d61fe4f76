"""How a class did: which claims fail, which mistakes are behind it, and what took the time."""

from collections import Counter, defaultdict
from statistics import mean, median

from grader.checks import find_exercise
from grader.pages import render
from grader.records import CRASHED, GRADED, PASSED, TIMED_OUT, UNTOUCHED, WAITING, WRONG

OUTCOMES = (PASSED, WRONG, TIMED_OUT, CRASHED, UNTOUCHED, WAITING)
SLOWEST = 10  # cells that are listed
WIDTH = 400  # of a full bar in the picture


def summarise(assignment, standings):
    """Count a class.

    Parameters
    ----------
    assignment : str
        The sheet.
    standings : list of Standing
        The class.

    Returns
    -------
    facts : dict
        Only what JSON has: ``students`` by status, ``points``, ``claims``, ``mistakes``,
        ``slowest``, ``notes``, ``seconds``.
    """
    graded = [standing for standing in standings if standing.record.status == GRADED]
    records = [standing.record for standing in graded]
    return {
        "assignment": assignment,
        "students": dict(Counter(standing.status for standing in standings)),
        "open": _open(standings),
        "points": _points(graded),
        "claims": _claims(graded),
        "mistakes": _mistakes(records),
        "slowest": _slowest(records),
        "seconds": round(sum(record.seconds for record in records), 3),
        "untrusted": sorted({c.key for r in records for c in r.cells if not c.trusted}),
        "notes": _notes(standings),
    }


def _open(standings):
    """Name whose marks are not complete, and why."""
    return [
        {"student": s.record.student, "status": s.status, "remark": s.record.remark}
        for s in standings
        if s.total is None
    ]


def _points(graded):
    """Describe the points so far of those that were marked; nothing if there are none."""
    points = [standing.points for standing in graded]
    if not points:
        return {}
    return {
        "of": max(standing.record.max_points for standing in graded),
        "mean": round(mean(points), 2),
        "median": round(median(points), 2),
        "lowest": min(points),
        "highest": max(points),
    }


def _claims(graded):
    """Count what became of each claim, in the order of the sheet."""
    found = defaultdict(list)
    for standing in graded:
        for cell in standing.record.cells:
            found[cell.key].append((cell, standing.mark(cell)))
    return [_claim(key, pairs) for key, pairs in found.items()]


def _claim(key, pairs):
    """Count one claim; the rate is of those that have a mark."""
    marked = [mark.points for _, mark in pairs if mark.points is not None]
    cell = pairs[0][0]
    full = sum(points >= cell.max_points for points in marked)
    return {
        "cell": key,
        "label": cell.label,
        "by_hand": cell.by_hand,
        "points": cell.max_points,
        "students": len(pairs),
        "full": full,
        "rate": round(full / len(marked), 4) if marked else None,
        "mean": round(mean(marked), 3) if marked else None,
        "outcomes": dict(Counter(cell.outcome for cell, _ in pairs)),
        "seconds": round(median(cell.seconds for cell, _ in pairs), 4),
    }


def _mistakes(records):
    """Count the catalogued mistakes behind the failures by exercise, the commonest first."""
    found = defaultdict(lambda: (set(), set()))
    for record in records:
        for cell in record.cells:
            for mistake in cell.mistakes:
                students, cells = found[_exercise(cell.key), mistake]
                students.add(record.student)
                cells.add(cell.key)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1][0]), item[0]))
    return [
        {
            "exercise": exercise,
            "mistake": mistake,
            "students": len(students),
            "cells": sorted(cells),
            "question": _question(exercise, mistake),
        }
        for (exercise, mistake), (students, cells) in ordered
    ]


def _exercise(key):
    """Return which exercise a graded cell checks: ``half_rms`` for ``half_rms-value``."""
    return key.rpartition("/")[2].rpartition("-")[0] or key


def _question(exercise, mistake):
    """Return the question that learners with this mistake are asked; empty for other courses."""
    try:
        known = find_exercise(exercise).mistakes
    except LookupError:
        return ""
    return next((one.question for one in known if one.name == mistake), "")


def _slowest(records):
    """Return the cells that took longest, with their students."""
    cells = [(c.seconds, r.student, c.key, c.outcome) for r in records for c in r.cells]
    names = ("seconds", "student", "cell", "outcome")
    return [
        dict(zip(names, (round(seconds, 3), *rest), strict=True))
        for seconds, *rest in sorted(cells, reverse=True)[:SLOWEST]
        if seconds > 0
    ]


def _notes(standings):
    """Return everything that was found and mended, sorted by kind and student."""
    found = [
        {"kind": note.kind, "student": s.record.student, "cell": note.cell, "text": note.text}
        for s in standings
        for note in s.record.notes
    ]
    return sorted(found, key=lambda note: (note["kind"], note["student"]))


def bars(claim):
    """Return the parts of a claim's bar in the picture: class, start and width of each."""
    start, parts = 0.0, []
    lost = claim["outcomes"].get(WRONG, 0)
    lost += claim["outcomes"].get(TIMED_OUT, 0) + claim["outcomes"].get(CRASHED, 0)
    for name, number in (
        ("passed", claim["outcomes"].get(PASSED, 0)),
        ("lost", lost),
        ("waiting", claim["outcomes"].get(WAITING, 0)),
        ("untouched", claim["outcomes"].get(UNTOUCHED, 0)),
    ):
        width = WIDTH * number / claim["students"]
        if number:
            parts.append((name, round(start, 2), round(width, 2), number))
        start += width
    return parts


def report_page(facts):
    """Return the report as a page, from what `summarise` counted."""
    return render("report.html", facts=facts, bars=bars, width=WIDTH)
