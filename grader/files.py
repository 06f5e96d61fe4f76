"""Files that are written whole or not at all."""

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
