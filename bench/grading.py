"""Measure how fast a class is marked, beside plain ``nbgrader autograde`` in the same run.

Run with ``make bench``; ``--quick`` takes a small class. A class of right, wrong, crashing and slow
submissions is marked by our command, with one worker and with two; nbgrader marks a sample of it,
feedback included. Printed are seconds a submission, ratios, the processor's time, and the largest
size of the command's own process. What two processes of plain arithmetic do against one shows how
much a second worker can bring on this computer.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIX = {
    "rmsnorm": ("right", "other_way", "eps_outside", "no_rank_one", "raises", "untouched"),
    "block": ("right", "other_way", "post_norm", "untouched"),
}
QUICK = {"size": 24, "sample": 4}
CRASH, SLOW = "import os\nos._exit(1)", "import time\ntime.sleep(0.5)"


def main():
    """Mark a class in each sheet and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200, help="submissions of each sheet")
    parser.add_argument("--sample", type=int, default=6, help="submissions that nbgrader marks")
    parser.add_argument("--sheet", choices=MIX, action="append", help="this sheet only")
    parser.add_argument("--quick", action="store_true", help="a small class, in two minutes")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    print(f"two processes of arithmetic against one: {second_processor():.2f} ×")
    for sheet in options.sheet or MIX:
        with tempfile.TemporaryDirectory() as place:
            compare(sheet, Path(place), options.size, options.sample)


def second_processor():
    """Return how many times as much work two processes do as one, in the same time."""
    work = [sys.executable, "-c", "sum(n * n for n in range(20_000_000))"]
    took = []
    for count in (1, 2):
        start = time.monotonic()
        for process in [subprocess.Popen(work) for _ in range(count)]:
            process.wait()
        took.append(time.monotonic() - start)
    return 2 * took[0] / took[1]


def compare(sheet, place, size, sample):
    """Mark one sheet with both, and print what each took."""
    course = place / "course"
    grader(["course", course])
    hand_in(course, sheet, size)
    small = shutil.copytree(course, place / "sample")
    keep_first(small, sample)
    print(f"{sheet}: {size} submissions, {sample} of them marked by nbgrader")
    nbgrader = Path(sys.executable).parent / "nbgrader"
    plain = timed([nbgrader, "autograde", sheet], small)
    tell("nbgrader autograde", plain, sample)
    pages = timed([nbgrader, "generate_feedback", sheet], small)
    tell("nbgrader generate_feedback", pages, sample)
    one = command("grade", course, sheet, "--student", "s0000", "--again")
    tell("grade, one submission the first time", timed(one, ROOT), 1)
    tell("grade, one submission from a cold start", timed(one, ROOT), 1)
    taken = {}
    for workers in (1, 2):
        words = command("grade", course, sheet, "--again", "--workers", workers)
        taken[workers] = timed(words, ROOT)
        tell(f"grade, {workers} workers", taken[workers], size)
    ours = timed(command("feedback", course, sheet), ROOT)
    tell("feedback", ours, size)
    each = plain[0] / sample
    both = each + pages[0] / sample
    print(f"throughput against nbgrader: {each / (taken[2][0] / size):.1f} ×")
    print(f"with feedback: {both / ((taken[2][0] + ours[0]) / size):.1f} ×")
    print(f"two workers against one: {taken[1][0] / taken[2][0]:.2f} ×")


def command(*words):
    """Return a command of the grader's."""
    return [sys.executable, "-m", "grader", *map(str, words)]


def grader(words):
    """Run the grader and wait."""
    subprocess.run(command(*words), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def hand_in(course, sheet, size):
    """Fill a class from the sheet's submissions; one in twenty crashes, one in twenty is slow."""
    folder = ROOT / "tests" / "submissions" / sheet
    notebooks = {
        name: json.loads((folder / f"{name}.ipynb").read_text("utf-8")) for name in MIX[sheet]
    }
    for number in range(size):
        notebook = json.loads(json.dumps(notebooks[MIX[sheet][number % len(MIX[sheet])]]))
        extra = {7: CRASH, 15: SLOW}.get(number % 20)
        if extra:
            cell = {"cell_type": "code", "id": "extra", "metadata": {}, "source": extra}
            notebook["cells"].append(cell | {"outputs": [], "execution_count": None})
        path = course / "submitted" / f"s{number:04d}" / sheet / f"{sheet}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), "utf-8")


def keep_first(course, count):
    """Leave the first students only: nbgrader stops at a kernel that dies, none of theirs."""
    for folder in sorted((course / "submitted").iterdir())[count:]:
        shutil.rmtree(folder)


def timed(words, folder):
    """Run a command; return its seconds, its processors' seconds, and its largest size in MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if run.returncode:
        print(run.stderr[-2000:], file=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, busy, after.ru_maxrss >> 10


def tell(what, taken, size):
    """Print one line of figures."""
    seconds, busy, largest = taken
    print(
        f"{what}: {seconds:.1f} s, {seconds / size:.3f} s each, {busy:.1f} s of processor, "
        f"largest process {largest} MiB, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
