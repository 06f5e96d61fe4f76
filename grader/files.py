"""Files that are written whole or not at all, and JSON for them."""

import json
import os
import tempfile
from pathlib import Path


def write_whole(path, data):
    """Write bytes so that the file holds the old or the new ones, whenever the computer stops."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink()
            raise


def json_lines(facts):
    """Write JSON with a line for each entry of its lists.

    An indent everywhere would cost five times as much, since only the encoder in Python knows it.

    Parameters
    ----------
    facts : dict
        What becomes of it depends on nothing else: its keys are sorted, at every depth.

    Returns
    -------
    data : bytes
        UTF-8. Half a surrogate pair, which a learner's text can hold, becomes JSON's own escape.
    """
    parts = [f"{_line(key)}: {_lines(facts[key])}" for key in sorted(facts)]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8", "backslashreplace")


def _lines(value):
    if value and isinstance(value, list | tuple):
        return "[\n" + ",\n".join(map(_line, value)) + "\n]"
    return _line(value)


def _line(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
