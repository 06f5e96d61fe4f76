"""Reading arrays from a file, with one plain sentence when that does not work."""

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
