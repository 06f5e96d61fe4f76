"""The first cell of every sheet: which Python and NumPy run here, and what to do if too old."""

import sys

OLDEST_PYTHON = (3, 11)
OLDEST_NUMPY = (2, 0)


def ready():
    """Print one line with the versions, and a second one with the way out if one is too old."""
    import numpy as np

    python = sys.version_info[:3]
    numpy = tuple(int(part) for part in np.__version__.split(".")[:2])
    print(f"Python {'.'.join(map(str, python))}, NumPy {np.__version__}", end="")
    if python >= OLDEST_PYTHON and numpy >= OLDEST_NUMPY:
        print(": ready.")
        return
    print(
        ": too old for this sheet.\n"
        f"It needs Python {'.'.join(map(str, OLDEST_PYTHON))} and "
        f"NumPy {'.'.join(map(str, OLDEST_NUMPY))} or newer: choose the kernel of the course's "
        "environment in the Kernel menu, or start `make lab` in the course's folder."
    )
