"""Measure how long the book takes to build: from nothing, unchanged, and after a changed page.

It builds a copy of the working tree with this environment, in a temporary folder. Run it with
``make bench-build``; it takes some minutes.
"""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "book/rmsnorm.md"
LINKS = (".venv", "node_modules")
COMMAND = ("make", "--silent", "-o", ".venv/installed", "-o", "node_modules/installed", "book")


def copy_tree(target):
    """Copy what git knows of, with the changes that are not committed; link the environment."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for name in LINKS:
        (target / name).symlink_to(ROOT / name)


def seconds_to_build(folder):
    """Build the book in a folder; return the seconds that it took."""
    start = time.perf_counter()
    subprocess.run(COMMAND, cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - start


def main():
    """Build three times and print a table."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "course")
        copy_tree(copy)
        print("building        seconds")
        print(f"from nothing    {seconds_to_build(copy):7.1f}", flush=True)
        print(f"unchanged       {seconds_to_build(copy):7.1f}", flush=True)
        page = copy / PAGE
        page.write_text(page.read_text("utf-8") + "\nOne more line.\n", "utf-8")
        print(f"one page more   {seconds_to_build(copy):7.1f}", flush=True)


if __name__ == "__main__":
    main()
