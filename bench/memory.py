"""Measure the memory that marking a large class takes: the command's own, and its workers'.

Run it by itself: a thousand submissions take a few minutes. Printed is the memory in use when a
hundred, five hundred and all of them are marked, and the greatest that was seen. What grows from
one line to the next would grow without end in a larger class.
"""

import argparse
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from grading import ROOT, command, grader, hand_in

SHEET = "rmsnorm"
MOMENTS = (0.1, 0.5, 1.0)  # parts of the class
GLANCE = 0.25  # seconds between two looks


def main():
    """Mark a class once, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="submissions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        course = Path(place, "course")
        grader(["course", course])
        hand_in(course, SHEET, options.size)
        started = time.monotonic()
        marking = subprocess.Popen(
            command("grade", course, SHEET), cwd=ROOT, stdout=subprocess.DEVNULL
        )
        greatest = watch(marking, course / "records" / SHEET, options.size)
        seconds = time.monotonic() - started
    print(f"greatest: {told(greatest)}")
    print(f"{options.size} submissions: {seconds:.0f} s, {seconds / options.size:.3f} s each")


def watch(marking, records, size):
    """Look at the processes until they have ended; print what they take at some moments."""
    greatest, left = (0, 0, 0), [round(part * size) for part in MOMENTS]
    while marking.poll() is None:
        now = memory_of(marking.pid)
        greatest = tuple(map(max, greatest, now))
        if left and len(list(records.glob("[!.]*.json"))) >= left[0]:
            print(f"{left.pop(0)} marked: {told(now)}", flush=True)
        time.sleep(GLANCE)
    return greatest


def memory_of(pid):
    """Return MiB: of the command, of its largest worker, and of all processes together."""
    command, largest, total = psutil.Process(pid), 0, 0
    with suppress(psutil.Error):
        total = command.memory_info().rss
        workers = {worker.pid for worker in command.children()}
        for process in command.children(recursive=True):
            with suppress(psutil.Error):
                size = process.memory_info().rss
                total += size
                largest = max(largest, size if process.pid in workers else 0)
        return command.memory_info().rss >> 20, largest >> 20, total >> 20
    return 0, 0, 0


def told(memory):
    """Say what was measured."""
    return "the command {} MiB, a worker {} MiB, all processes {} MiB".format(*memory)


if __name__ == "__main__":
    main()
