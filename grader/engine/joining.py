"""One record of a submission from those of its notebooks."""

from dataclasses import replace

from grader.late import read_time
from grader.records import FAILED


def join(records, submission):
    """Make one record of a student's notebooks: unreadable if one of them is."""
    failed = [record for record in records if record.status == FAILED]
    first = (failed or records)[0]
    cells = () if failed else tuple(cell for record in records for cell in record.cells)
    answers = () if failed else tuple(one for record in records for one in record.answers)
    return replace(
        first,
        cells=cells,
        answers=answers,
        notes=submission.notes + tuple(note for record in records for note in record.notes),
        submission=digest_of(record.submission for record in records),
        master=digest_of(record.master for record in records),
        submitted=submission.submitted,
        seconds=round(sum(record.seconds for record in records), 3),
    )


def digest_of(digests):
    """Return one digest for several; one alone stays what it is."""
    return "+".join(digests)


def when_submitted(folder):
    """Read nbgrader's ``timestamp.txt``; ``None`` if there is none that can be read."""
    path = folder / "timestamp.txt"
    try:
        if path.is_symlink() or not path.is_file():  # a link leads to another's, a pipe has no end
            return None
        moment = read_time(path.read_text("utf-8").strip())
    except (OSError, ValueError, KeyError):
        return None
    return moment.isoformat()
