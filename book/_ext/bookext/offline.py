"""The book without a network: a service worker that keeps what was read.

It is written in ``book/offline`` with Workbox. It must lie at the top of the site, because a worker
may keep what lies beside it and below. ``book/offline/offline.html`` is the page that it shows in
place of one that it has not kept.
"""

from pathlib import Path

from bookext.bundling import bundle

WORKER = "book/offline/offline-worker.js"
TOP = "_build/top"
LICENCES = "_build/vendor/offline/LICENSES.txt"


def setup(app):
    """Put the worker together before Sphinx looks at what it copies to the top of the site."""
    app.connect("config-inited", _make_worker)


def _make_worker(app, _config):
    root = Path(app.confdir)
    bundle(root, [WORKER], root / TOP, root / LICENCES)
