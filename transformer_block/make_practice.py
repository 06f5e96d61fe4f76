"""Run the real model with each mistake of practice: ``python -m transformer_block.make_practice``.

It takes some minutes. What it finds is kept, since the book is built without the weights.
"""

import argparse
import json
import sys

import numpy as np

from transformer_block.fast_generate import fast_generate
from transformer_block.layouts import to_half_split
from transformer_block.practice import (
    FOLDER,
    TEXT,
    block_variants,
    forget_gains,
    gain_names,
    left_half_split,
    load_results,
    next_token_losses,
    stack_logits,
    without_adds_of,
)
from transformer_block.pretrained import TROUBLE, load_pretrained
from transformer_block.real_traces import SENTENCES
from transformer_block.softmax import softmax

PROMPT = SENTENCES["fact"]
TOKENS, FEW = 24, 8  # of a continuation; few where no keys and values are kept
TOLERANCE = 0.02  # relative, of every loss: other processors add up in another order


def practice_results(model):
    """Measure what every mistake costs, and let the faulty models speak.

    Parameters
    ----------
    model : PretrainedModel
        From `load_pretrained`.

    Returns
    -------
    results : dict
        ``tokens``, how many the text has; ``gains``, for every norm its name, the mean size of
        its gain, and the loss without it; ``exports``, for each faulty set of weights the loss,
        the loss at every position, and what it says, greedily and drawn at temperature 0.7;
        ``blocks``, for every wrong block the loss and what it says; ``adds``, the loss with both
        adds of each block in turn left out; ``layout``, by how much the logits of each position
        are off in the wrong layout. Losses are means over `TEXT`, in nats.
    """
    ids = model.tokenizer.encode(TEXT)
    right = block_variants(model.settings, model.config.head_dim)["right"]

    def logits_of(params, block_forward=right):
        return stack_logits(ids, params, block_forward, model.eps)

    def loss(*run):
        return float(np.mean(next_token_losses(ids, logits_of(*run))))

    names, params = gain_names(model.params), model.params
    half_split = left_half_split(params, model.config.head_dim)
    exports = {
        "right": params,
        "final gain forgotten": forget_gains(params, ["final_norm"]),
        "last block's first gain forgotten": forget_gains(params, [names[-3]]),
        "all gains forgotten": forget_gains(params, names),
        "half-split weights": half_split,
    }
    variants = block_variants(model.settings, model.config.head_dim)
    off = np.abs(logits_of(half_split) - logits_of(params)).max(axis=-1)
    return {
        "tokens": len(ids),
        "gains": [
            {"name": n, "size": _size(params, n), "loss": loss(forget_gains(params, [n]))}
            for n in names
        ],
        "exports": {
            name: _measured(ids, logits_of(p)) | _said(model, p) for name, p in exports.items()
        },
        "blocks": {
            name: {"loss": loss(params, forward), "greedy": _few(model, forward)}
            for name, forward in variants.items()
        },
        "adds": [
            loss(params, without_adds_of(k, model.settings)) for k in range(len(params["blocks"]))
        ],
        "layout": [float(gap) for gap in off],
    }


def _size(params, name):
    """Give the mean size of the entries of a gain."""
    *block, norm = name.removeprefix("blocks.").split(".")
    return float(np.mean(np.abs(params["blocks"][int(block[0])][norm] if block else params[norm])))


def _measured(ids, logits):
    """Give the loss, by position and in the mean, and how undecided the model is."""
    losses = next_token_losses(ids, logits)
    p = softmax(logits).astype(np.float64)
    return {
        "loss": float(losses.mean()),
        "losses": losses.tolist(),
        "entropy": float(-np.mean(np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1))),
    }


def _said(model, params):
    """Continue the prompt with these weights, once greedily and three times by chance."""
    ids = model.tokenizer.encode(PROMPT)

    def said(**choice):
        out = fast_generate(ids, params, n_new=TOKENS, **model.settings, **choice)
        return model.tokenizer.decode(out[len(ids) :])

    draws = [said(temperature=0.7, rng=np.random.default_rng(seed)) for seed in range(3)]
    return {"greedy": said(temperature=0.0), "drawn": draws}


def _few(model, block_forward):
    """Continue the prompt by the likeliest tokens, with the whole prefix run again each time."""
    ids = model.tokenizer.encode(PROMPT)
    start = len(ids)
    for _ in range(FEW):
        logits = stack_logits(ids, model.params, block_forward, model.eps)
        ids = np.append(ids, np.argmax(logits[-1]))
    return model.tokenizer.decode(ids[start:])


def excerpt(model):
    """Cut the first group of heads out of the first block, in the layout of Hugging Face.

    Parameters
    ----------
    model : PretrainedModel
        From `load_pretrained`.

    Returns
    -------
    arrays : dict
        As `transformer_block.practice.load_excerpt` returns them, in float16.
    """
    block, K = model.params["blocks"][0], model.config.head_dim
    group = model.config.n_heads // model.config.n_kv_heads
    arrays = {
        "x": model.params["embedding"][model.tokenizer.encode(PROMPT)],
        "attn_norm": block["attn_norm"],
        "q_proj": to_half_split(block["W_q"][:, : group * K], group).T,
        "k_proj": to_half_split(block["W_k"][:, :K], 1).T,
    }
    return {name: array.astype(np.float16) for name, array in arrays.items()}


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list, optional
        Its arguments; ``None`` takes those of the command line.

    Returns
    -------
    status : int
        0 if all is well, 1 if the weights could not be had, or the results differ.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_block.make_practice",
        description="Run the pretrained model with each mistake of practice; store the numbers.",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing: compare with the stored numbers"
    )
    arguments = parser.parse_args(argv)
    try:
        model = load_pretrained()
    except TROUBLE as error:
        print(error, file=sys.stderr)
        return 1
    results = practice_results(model)
    if arguments.check:
        return _compare(results, load_results())
    text = json.dumps(_rounded(results), indent=1, ensure_ascii=False)
    (FOLDER / "practice.json").write_text(text + "\n", "utf-8")
    np.savez_compressed(FOLDER / "excerpt.npz", **excerpt(model))
    print(f"wrote practice.json and excerpt.npz into {FOLDER}")
    return 0


def _rounded(tree):
    """Keep four digits after the point of every number."""
    if isinstance(tree, dict):
        return {key: _rounded(branch) for key, branch in tree.items()}
    if isinstance(tree, list):
        return [_rounded(branch) for branch in tree]
    return round(tree, 4) if isinstance(tree, float) else tree


def _losses(results):
    """List the mean losses of all runs."""
    named = [*results["gains"], *results["exports"].values(), *results["blocks"].values()]
    return np.array([one["loss"] for one in named] + results["adds"])


def _compare(results, stored):
    """Say how far the new losses are from the stored ones; return 1 if that is too far."""
    new, old = _losses(results), _losses(stored)
    apart = float(np.max(np.abs(new - old) / old))
    same = results["exports"]["right"]["greedy"] == stored["exports"]["right"]["greedy"]
    print(f"losses {apart:.1e} apart, the right model's words {'alike' if same else 'differ'}")
    return int(not same or apart > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
