"""Kill the command that marks a class at random moments, start it again, and look at every mark.

Run with ``make bench``; it takes some minutes. A whole run is timed first, so that the moments lie
anywhere in it: while workers start, while they mark, while marks are written. Printed is when it
was killed, how many records it had written, how many students were in the gradebook, how many
processes it left behind, and whether every mark is there once in the end.
"""

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
from grading import ROOT, command, grader, hand_in

SHEET = "rmsnorm"
COUNTED = """
SELECT submitted_assignment.student_id, COUNT(*), COUNT(DISTINCT grade.cell_id)
FROM grade
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
GROUP BY submitted_assignment.student_id
"""


def main():
    """Kill and start again; end with an error if a mark is lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--size", type=int, default=12, help="submissions")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        course = Path(place, "course")
        grader(["course", course])
        hand_in(course, SHEET, options.size)
        wanted, whole = mark_whole(course)
        left = kill_and_mark(course, options, whole)
        got, once = points_of(course), in_gradebook(course)
    lost = [student for student in wanted if got.get(student) != wanted[student]]
    odd = options.size - sum(marks == cells for marks, cells in once)
    print(
        f"{options.kills} kills: {len(wanted)} students, {len(lost)} of them with other marks, "
        f"{odd} without every mark once in the gradebook, {left} processes left"
    )
    sys.exit(bool(lost or odd or left or len(wanted) != options.size))


def mark_whole(course):
    """Mark a copy without any trouble; return its marks, and the seconds of a run.

    What the first run finds out about the tests is kept for the others: they begin to mark sooner.
    """
    copy = shutil.copytree(course, course.parent / "whole")
    run(copy)
    started = time.monotonic()
    run(copy, "--again")
    seconds = time.monotonic() - started
    shutil.copytree(copy / "records" / ".habits", course / "records" / ".habits")
    print(f"a whole run takes {seconds:.1f} s")
    return points_of(copy), seconds


def run(course, *more):
    """Mark a class to the end; what it says of trouble is printed."""
    words = command("grade", course, SHEET, *more)
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(f"exit code {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")


def kill_and_mark(course, options, whole):
    """Kill the command so many times, then let it end; return how many processes were left."""
    rng, killed, left = random.Random(options.seed), 0, 0
    while killed < options.kills:
        done = len(points_of(course)) == options.size
        words = command("grade", course, SHEET, *(["--again"] if done else []))
        started = time.time()
        marking = subprocess.Popen(
            words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        seconds = rng.uniform(0, whole)
        with suppress(subprocess.TimeoutExpired):
            marking.wait(seconds)
            continue  # it had less to do than a whole run
        alive = kill(marking)
        killed, left = killed + 1, left + alive
        print(
            f"killed after {seconds:.1f} s: {written_since(course, started)} records written, "
            f"{len(in_gradebook(course))} students in the gradebook, {alive} processes left"
        )
    run(course)
    return left


def kill(marking):
    """Kill a process, and count those below it that live on."""
    below = psutil.Process(marking.pid).children(recursive=True)
    marking.kill()
    marking.wait()
    return sum(map(is_running, psutil.wait_procs(below, timeout=10)[1]))


def is_running(process):
    """Tell whether a process lives: one that has ended waits for the system to notice."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def points_of(course):
    """Return outcome and points of every cell by student, from the records."""
    records = {}
    for path in (course / "records" / SHEET).glob("[!.]*.json"):
        record = json.loads(path.read_text("utf-8"))
        cells = [(cell["name"], cell["outcome"], cell["points"]) for cell in record["cells"]]
        records[path.stem] = (record["status"], cells)
    return records


def written_since(course, moment):
    """Count the records that were written after a moment."""
    paths = (course / "records" / SHEET).glob("[!.]*.json")
    return sum(path.stat().st_mtime > moment for path in paths)


def in_gradebook(course):
    """Return for each student in the gradebook how many marks there are, and of how many cells."""
    if not (course / "gradebook.db").exists():
        return []
    with closing(sqlite3.connect(course / "gradebook.db")) as connection:
        try:
            return [row[1:] for row in connection.execute(COUNTED)]
        except sqlite3.OperationalError:  # killed before it had a table
            return []


if __name__ == "__main__":
    main()
