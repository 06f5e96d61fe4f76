"""JupyterLite in the book: ``make lite`` puts it beside the pages, with all sheets.

It runs after Sphinx, because it takes Python from the book's static folder. Its settings are in
``book/lite``: addresses in them start from JupyterLite's own folder, and the packages named are
loaded before the first cell, all others when a cell imports them.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bookext.freshness import digest
from bookext.lite_packages import write_lock
from bookext.sheets import name_in_browser

ROOT = Path(__file__).parents[3]
SITE = ROOT / "_build/html"
WORK = ROOT / "_build/lite"
SETTINGS = ROOT / "book/lite"
EXTENSIONS = Path(sys.prefix, "share/jupyter/labextensions")
KERNEL = EXTENSIONS / "@jupyterlite/pyodide-kernel-extension"
FEDERATED = (
    KERNEL,
    EXTENSIONS / "@jupyter-widgets/jupyterlab-manager",
    EXTENSIONS / "anywidget",
    SETTINGS / "sheets-extension",
)
MADE_OF = (
    "notebooks/*.ipynb",
    "book/lite/**/*",
    "book/_ext/bookext/*.py",
    "transformer_block/**/*",
    "grader/**/*.py",
    "requirements.txt",
    "package-lock.json",
)
TITLE = "<title>JupyterLite</title>"
OWN_TITLE = '<title>Sheets — The Transformer Block</title><link rel="icon" href="favicon.ico" />'


def main():
    """Build JupyterLite unless what stands there is made of the same."""
    made = SITE / "lite/made-of.sha256"
    wanted = digest(ROOT, MADE_OF)
    if made.exists() and made.read_text() == wanted:
        return
    pyodide = SITE / "_static/pyodide"
    if not pyodide.is_dir():
        sys.exit("The pages are not built. Run: make book")
    print("Putting JupyterLite beside the pages; this takes half a minute.", flush=True)
    write_lock(pyodide, pyodide / "lite", ROOT, KERNEL / "static/pypi")
    _prepare()
    _build()
    _require_own_python()
    _name_the_page()
    made.write_text(wanted)


def _prepare():
    """Put sheets and settings into an empty folder: what a build before has left is not asked."""
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "files").mkdir(parents=True)
    for sheet in sorted(ROOT.glob("notebooks/*.ipynb")):
        shutil.copy(sheet, WORK / "files" / name_in_browser(sheet))
    for name in ("jupyter-lite.json", "overrides.json"):
        shutil.copy(SETTINGS / name, WORK)


def _build():
    """Call JupyterLite with explicit settings only."""
    options = {
        "apps": ["lab"],
        "contents": [str(WORK / "files")],
        "federated_extensions": [str(folder) for folder in FEDERATED],
        "ignore_sys_prefix": True,
        "lite_dir": str(WORK),
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(SITE / "lite"),
    }
    (WORK / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": options}))
    shutil.rmtree(SITE / "lite", ignore_errors=True)
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    done = subprocess.run(command, cwd=WORK, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"JupyterLite was not built:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _require_own_python():
    """Stop if a setting was dropped on the way: Python would come from elsewhere, unnoticed."""
    built = json.loads((SITE / "lite/jupyter-lite.json").read_text("utf-8"))
    (kernel,) = (
        settings
        for name, settings in built["jupyter-config-data"]["litePluginSettings"].items()
        if name.endswith("pyodide-kernel-extension:kernel")
    )
    if not kernel.get("pyodideUrl", "").startswith("./") or not kernel["disablePyPIFallback"]:
        sys.exit(f"JupyterLite would take Python from elsewhere: {kernel}")


def _name_the_page():
    """Give the page our title, and the icon that a browser would look for outside the book."""
    page = SITE / "lite/lab/index.html"
    text = page.read_text("utf-8")
    if TITLE not in text:
        sys.exit(f"{page} has no {TITLE}: JupyterLite has changed")
    page.write_text(text.replace(TITLE, OWN_TITLE), "utf-8")


if __name__ == "__main__":
    main()
