"""The processes below one and what they take: told by the system's lists as by psutil."""

import subprocess
import sys
import time

import psutil
import pytest

from grader.engine import processes

FAMILY = """
import subprocess, sys, time
block = bytearray(60 << 20)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("ready", flush=True)
child.wait()
"""


@pytest.fixture
def family():
    """Start a process of some size with a child; yield the number of the first."""
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()


@pytest.mark.parametrize("look", [processes.sizes_below, processes._sizes_elsewhere])
def test_all_generations_below_a_process_are_found(look, family):
    mine = psutil.Process()
    below = {process.pid for process in mine.children(recursive=True)}
    sizes = look(mine.pid)
    assert family in sizes
    assert sizes.keys() == below
    assert sizes[family] > 60 << 20


def test_a_size_is_the_one_that_psutil_tells(family):
    assert processes.size_of(family) == pytest.approx(psutil.Process(family).memory_info().rss)


def test_a_process_that_has_ended_takes_nothing_and_has_nobody_below():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert processes.size_of(process.pid) == 0
    assert processes.sizes_below(process.pid) == {}


def test_a_child_of_a_thread_is_found_too():
    code = "import threading, subprocess, sys, time\n"
    code += "wait = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
    code += "threading.Thread(target=lambda: subprocess.run(wait)).start()\n"
    code += "time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        deadline = time.monotonic() + 20
        while not processes.sizes_below(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        found = processes.sizes_below(process.pid)
        for pid in (*found, process.pid):
            psutil.Process(pid).kill()
    assert len(found) == 1
