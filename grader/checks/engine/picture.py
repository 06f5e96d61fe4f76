"""A small picture of a failure, for notebooks: wanted and received side by side."""

import sys

import numpy as np

CELL, GAP = 16, 28
MOST_ROWS, MOST_COLUMNS = 8, 16
DIFFERS = 1e-6  # relative to the largest wanted entry; what an eye should be led to


def show(failure):
    """Draw a failure under the cell that raised it, where a notebook is there to draw on."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if failure.values is not None and hasattr(shell, "kernel"):
        notebook = sys.modules["IPython.display"]  # there where a kernel is; never imported here
        notebook.display(notebook.HTML(draw(*failure.values)))


def draw(want, got):
    """Write an SVG of two arrays; entries that differ are framed in the second one."""
    want, got = _flat(want), _flat(got)
    scale = np.max(np.abs(want)) or 1.0
    differs = ~(np.abs(got - want) <= DIFFERS * scale)
    rows, columns = want.shape
    width = columns * CELL
    height = rows * CELL + 20
    label = f"{int(differs.sum())} of {want.size} entries shown differ from what was wanted"
    return (
        f'<svg role="img" aria-label="{label}" width="{2 * width + GAP}" height="{height}" '
        f'font-size="12" fill="currentColor" xmlns="http://www.w3.org/2000/svg">'
        f'<text x="0" y="12">wanted</text><text x="{width + GAP}" y="12">received</text>'
        + _cells(want / scale, np.zeros_like(differs), 0)
        + _cells(got / scale, differs, width + GAP)
        + "</svg>"
    )


def _flat(array):
    """Take the first rows and columns of an array of any number of axes."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    return rows[:MOST_ROWS, :MOST_COLUMNS]


def _cells(values, framed, left):
    """Draw one rectangle per entry: blue above zero, orange below, stronger where larger."""
    return "".join(
        _cell(values[i, j], framed[i, j], left + j * CELL, 20 + i * CELL)
        for i, j in np.ndindex(values.shape)
    )


def _cell(value, framed, x, y):
    strength = 0.9 * min(1.0, abs(value)) if np.isfinite(value) else 0.0
    colour = "#1f6fb4" if value > 0 else "#d9792b"
    frame = ' stroke="#c0392b" stroke-width="2"' if framed else ' stroke="#888" stroke-width="0.4"'
    mark = "" if np.isfinite(value) else f'<text x="{x + 4}" y="{y + 12}">?</text>'
    return (
        f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" '
        f'fill="{colour}" fill-opacity="{strength:.2f}"{frame}/>{mark}'
    )
