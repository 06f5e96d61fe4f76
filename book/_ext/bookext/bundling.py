"""Scripts and the libraries that they import, put into one file each by esbuild."""

import json
import re
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError


def bundle(root, entries, target, licences):
    """Put each script and the libraries that it imports into one file.

    Parameters
    ----------
    root : Path
        The folder that holds ``node_modules``.
    entries : list of str
        The scripts, from the root.
    target : Path
        The folder that the files are written to, under the scripts' own names.
    licences : Path
        The file that the libraries' licences are written to.
    """
    npm = root / "node_modules"
    meta = root / "_build" / f"{Path(entries[0]).stem}-meta.json"
    command = [npm / ".bin/esbuild", *(root / entry for entry in entries), "--bundle", "--minify"]
    command += ["--format=esm", "--loader:.py=text", f"--outdir={target}", f"--metafile={meta}"]
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}  # esbuild starts from node
    done = subprocess.run(command, capture_output=True, text=True, env=path)
    if done.returncode:
        raise ExtensionError(f"{', '.join(entries)} do not build: {done.stderr.strip()}")
    licences.parent.mkdir(parents=True, exist_ok=True)
    read = json.loads(meta.read_text("utf-8"))["inputs"]
    texts = (f"{name}\n\n{(npm / name / 'LICENSE').read_text('utf-8')}" for name in bundled(read))
    licences.write_text("\n\n".join(texts), "utf-8")


def bundled(paths):
    """Name the packages of npm that some scripts belong to; what is no script has no licence."""
    found = (re.search(r"node_modules/((?:@[^/]+/)?[^/]+)/.*js$", path) for path in paths)
    return sorted({package[1] for package in found if package})
