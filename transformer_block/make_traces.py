"""Make the stored traces of the pretrained model: ``python -m transformer_block.make_traces``."""

import argparse
import sys
from pathlib import Path

import numpy as np

from transformer_block.pretrained import TROUBLE, load_pretrained
from transformer_block.real_traces import FOLDER, GATED, SENTENCES, load_real_trace, trace_sentence
from transformer_block.traces import pack_trace, save_trace

TOLERANCE = 0.02  # of the largest number: one step of uint8 or float16, and other processors' sums


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list, optional
        Its arguments; ``None`` takes those of the command line.

    Returns
    -------
    status : int
        0 if all is well, 1 if the weights could not be had, or the traces differ.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_block.make_traces",
        description="Run the pretrained model on a few sentences and store what pictures need.",
    )
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="where to write")
    parser.add_argument(
        "--check", action="store_true", help="write nothing: compare with the stored traces"
    )
    arguments = parser.parse_args(argv)
    try:
        model = load_pretrained()
    except TROUBLE as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.check:
        return max(_compare(name, _trace(model, name)) for name in SENTENCES)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in SENTENCES:
        path = arguments.out / f"{name}.npz"
        save_trace(path, _trace(model, name))
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")
    return 0


def _trace(model, name):
    """Run the model on a sentence; of one of them the gates of all tokens are kept."""
    gated = GATED[1] if name == GATED[0] else ()
    return trace_sentence(model, SENTENCES[name], gated)


def _compare(name, trace):
    """Say how far a new trace is from the stored one; return 1 if that is too far."""
    stored, apart = load_real_trace(name), 0.0
    for key in pack_trace(trace):
        if np.issubdtype(np.asarray(trace.get(key, 0)).dtype, np.floating):
            scale = np.max(np.abs(trace[key]))
            apart = max(apart, float(np.max(np.abs(stored[key] - trace[key])) / scale))
    same = (stored["tokens"] == trace["tokens"]).all()
    print(
        f"{name}: {apart:.1e} of the largest number apart, tokens {'alike' if same else 'differ'}"
    )
    return int(not same or apart > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
