"""Scripts, styles and fonts of other projects, copied beside ours so that the book needs no CDN."""

import filecmp
import shutil
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

from sphinx.errors import ExtensionError

from bookext.pyodide import pyodide_files

FOLDER = "_build/vendor"
FONTS = ("source-serif-4", "source-sans-3", "source-code-pro")
QUIZ = ("LICENSE", "styles.css", "helpers.js", "multiple_choice.js", "show_questions.js")


def setup(app):
    """Fill the folder before Sphinx looks at its static paths."""
    app.connect("config-inited", _copy_all)


def wanted_files(root):
    """List what the book needs of others, with the licences that travel along.

    Parameters
    ----------
    root : Path
        The folder that holds ``node_modules``.

    Returns
    -------
    sources : dict
        Path inside the book's static folder to the file it is copied from.
    """
    npm = root / "node_modules"
    anywidget = Path(find_spec("anywidget").origin).parent
    return {
        "widgets/require.js": npm / "requirejs/require.js",
        "widgets/anywidget.js": anywidget / "nbextension/index.js",
        **_tree("widgets", npm / "@jupyter-widgets/html-manager/dist", "embed-amd.js", "*.woff2"),
        **{
            f"quiz/{file.name}": Path(file.locate())
            for file in distribution("jupyterquiz").files
            if file.name in QUIZ
        },
        **pyodide_files(npm),
        **_tree("katex", npm / "katex/dist", "katex.min.css", "fonts/*.woff2"),
        **_tree("katex", npm / "katex", "LICENSE"),
        **{
            name: source
            for font in FONTS
            for name, source in _tree(
                f"fonts/{font}",
                npm / "@fontsource-variable" / font,
                "LICENSE",
                "wght*.css",
                "files/*-wght-*.woff2",
            ).items()
        },
    }


def _tree(name, folder, *patterns):
    """Map files below a folder to the same paths below another name."""
    found = {pattern: list(folder.glob(pattern)) or [folder / pattern] for pattern in patterns}
    return {
        f"{name}/{file.relative_to(folder).as_posix()}": file
        for files in found.values()
        for file in files
    }


def _copy_all(app, _config):
    root = Path(app.confdir)
    try:
        wanted = wanted_files(root)
    except (OSError, ValueError) as error:
        raise ExtensionError(str(error)) from error
    for name, source in wanted.items():
        if not source.exists():
            raise ExtensionError(f"{source.relative_to(root)} is missing: run `make node_modules`.")
        _copy_if_changed(source, root / FOLDER / name)


def _copy_if_changed(source, target):
    if not (target.exists() and filecmp.cmp(source, target)):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
