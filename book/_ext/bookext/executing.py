"""Pages that are not in the cache of executed pages are executed side by side, before any is read.

MyST-NB executes a page when it comes to it, one after the other. It finds them all in the cache
then. A page that fails is not put there, so that MyST-NB meets the failure itself, and tells it.
"""

import asyncio
import contextlib
import os
import time
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def setup(app):
    """Execute what will be read, before the first page is."""
    app.connect("env-before-read-docs", _execute_pages)


def _execute_pages(app, env, docnames):
    config = env.mystnb_config
    if config.execution_mode != "cache":
        return
    paths = [Path(env.doc2path(name)) for name in docnames]
    read = {path: _notebook(path, env.myst_config, config) for path in paths}
    cache = get_cache(config.execution_cache_path or ".jupyter_cache")
    ran = execute_missing(
        {path: notebook for path, notebook in read.items() if notebook is not None},
        cache,
        config.execution_timeout,
    )
    if ran:
        LOGGER.info("executed side by side: %s", ", ".join(path.stem for path in ran))


def _notebook(path, md_config, nb_config):
    """Read a page as MyST-NB reads it; ``None`` if there is nothing to execute."""
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), md_config, nb_config, text)
    return reader and reader.read(text)


def execute_missing(notebooks, cache, timeout, workers=None):
    """Execute the notebooks that a cache does not hold, and put them there.

    Parameters
    ----------
    notebooks : dict
        Path to notebook.
    cache : JupyterCacheBase
        Of executed notebooks.
    timeout : float
        Seconds for a cell.
    workers : int, optional
        How many kernels at a time; as many as there are processors otherwise.

    Returns
    -------
    ran : list of Path
        Those that were executed without an error.
    """
    missing = {
        path: notebook for path, notebook in notebooks.items() if not _is_in(cache, notebook)
    }
    if missing:
        LOGGER.info("executing, one page on each processor: %d pages", len(missing))
    seconds = asyncio.run(_execute(missing, timeout, workers or os.cpu_count()))
    for path, took in seconds.items():
        bundle = CacheBundleIn(missing[path], str(path), data={"execution_seconds": took})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return list(seconds)


async def _execute(notebooks, timeout, workers):
    """Execute notebooks in place; return the seconds that each took, if it has come to its end."""
    free, seconds = asyncio.Semaphore(workers), {}

    async def run(path):
        place = {"metadata": {"path": str(path.parent)}}
        async with free:
            start = time.monotonic()
            with contextlib.suppress(CellExecutionError, CellTimeoutError):
                await NotebookClient(
                    notebooks[path],
                    timeout=timeout,
                    resources=place,
                    record_timing=False,  # times would be part of what a page is found by
                    extra_arguments=["--log-level=ERROR"],  # none of its own about encryption
                ).async_execute()
                seconds[path] = time.monotonic() - start

    await asyncio.gather(*map(run, notebooks))
    return {path: seconds[path] for path in notebooks if path in seconds}


def _is_in(cache, notebook):
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True
