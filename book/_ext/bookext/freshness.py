"""A page is built again when what it is made of changes, even where Sphinx does not look.

Neither Sphinx nor the cache of executed pages looks at the code that a page imports, and Sphinx
copies styles and scripts only when it writes a page. So two digests are settings of the build: a
new digest of the code makes Sphinx read every page again and empties the cache; a new digest of
the assets makes it write every page again.
"""

import hashlib
import shutil
from pathlib import Path

CODE = ("transformer_block/**/*", "grader/**/*", "book/_ext/**/*", "requirements.txt")
ASSETS = ("book/assets/**/*", "package-lock.json")


def setup(app):
    """Add the settings, and compute them before Sphinx compares them with the last build's."""
    app.add_config_value("book_code_digest", "", "env")
    app.add_config_value("book_assets_digest", "", "html")
    app.connect("config-inited", _note_digests)


def digest(root, patterns):
    """Digest every file that matches one of the patterns, with its name.

    Parameters
    ----------
    root : Path
        The folder that the patterns start from.
    patterns : iterable of str
        What counts, as for ``Path.glob``; what Python compiled does not.

    Returns
    -------
    digest : str
        64 hexadecimal digits.
    """
    found = {file for pattern in patterns for file in root.glob(pattern) if file.is_file()}
    total = hashlib.sha256()
    for file in sorted(file for file in found if file.suffix != ".pyc"):
        total.update(f"{file.relative_to(root)}\0{file.stat().st_size}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def _note_digests(app, config):
    root = Path(app.confdir)
    config.book_code_digest = digest(root, CODE)
    config.book_assets_digest = digest(root, ASSETS)
    cache = Path(config.nb_execution_cache_path or Path(app.outdir).parent / ".jupyter_cache")
    _empty_if_stale(cache, config.book_code_digest)


def _empty_if_stale(cache, code_digest):
    """Empty the cache of executed pages unless they were executed with this code."""
    note = cache / "code.sha256"
    if note.exists() and note.read_text() == code_digest:
        return
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    note.write_text(code_digest)
