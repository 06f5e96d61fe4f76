"""Kill the command that marks a class at random moments, start it again, and look at every mark.

Run with ``make bench``. Printed is after how many seconds it was killed, how many records stood
then, and whether every mark is there once in the end, in the records and in the gradebook.
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
from pathlib import Path

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
    parser.add_argument("--size", type=int, default=40, help="submissions")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        course = Path(place, "course")
        grader(["course", course])
        hand_in(course, SHEET, options.size)
        wanted = points_of(course_marked_whole(course))
        kill_and_mark(course, options)
        got, doubled = points_of(course), doubled_in_gradebook(course, options.size)
    lost = [student for student in wanted if got.get(student) != wanted[student]]
    print(f"{options.kills} kills: {len(lost)} students with other marks, {doubled} with doubled")
    sys.exit(bool(lost or doubled))


def course_marked_whole(course):
    """Mark a copy without any trouble, for comparison."""
    copy = shutil.copytree(course, course.parent / "whole")
    subprocess.run(command("grade", copy, SHEET), cwd=ROOT, capture_output=True, check=False)
    return copy


def kill_and_mark(course, options):
    """Kill the command so many times; then let it end."""
    rng = random.Random(options.seed)
    for number in range(options.kills):
        again = ["--again"] if number % 4 == 3 else []
        run = subprocess.Popen(
            command("grade", course, SHEET, *again),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        seconds = rng.uniform(0.5, 8.0)
        time.sleep(seconds)
        run.kill()
        run.wait()
        print(f"killed after {seconds:.1f} s: {len(points_of(course))} records")
    subprocess.run(command("grade", course, SHEET), cwd=ROOT, capture_output=True, check=False)


def points_of(course):
    """Return outcome and points of every cell by student, from the records."""
    records = {}
    for path in (course / "records" / SHEET).glob("[!.]*.json"):
        record = json.loads(path.read_text("utf-8"))
        cells = [(cell["name"], cell["outcome"], cell["points"]) for cell in record["cells"]]
        records[path.stem] = (record["status"], cells)
    return records


def doubled_in_gradebook(course, size):
    """Count students who have a mark twice, or none, in the gradebook."""
    with sqlite3.connect(course / "gradebook.db") as connection:
        rows = connection.execute(COUNTED).fetchall()
    once = [student for student, marks, cells in rows if marks == cells]
    return size - len(once)


if __name__ == "__main__":
    main()
