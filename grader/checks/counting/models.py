"""Models to count: published ones, and made-up ones in which no two sizes agree."""

from dataclasses import asdict
from functools import cache

from grader.checks.engine.exercise import Case
from transformer_block.config import ModelConfig, published_models

WORDS = ("model", "norm", "activation", "position", "total_params_published")  # not counted with

EXACT = 1e-14  # relative: less than one in all counts here, and more than float64 rounds away


@cache
def _rows():
    return {name: asdict(config) for name, config in published_models().items()}


def published(name):
    """Return the numbers of a published model as a plain dict."""
    return {key: value for key, value in _rows()[name].items() if key not in WORDS}


def config_of(model):
    """Turn the numbers of a model into the library's configuration."""
    return ModelConfig(**dict.fromkeys(WORDS, ""), **model)


def drawn(rng, **fixed):
    """Draw a small model: grouped heads, of a width that is not d / H, one plain gated net."""
    n_kv_heads, groups = (int(n) for n in rng.permutation([2, 3]))
    n_heads = n_kv_heads * groups
    per_head, head_dim = (int(n) for n in rng.permutation([5, 7, 11, 13])[:2])
    d = n_heads * per_head
    return {
        "d_model": d,
        "n_layers": int(rng.choice([3, 5, 7])),
        "n_heads": n_heads,
        "n_kv_heads": n_kv_heads,
        "head_dim": head_dim,
        "d_ff": int(rng.choice([101, 103, 107])),
        "mlp_matrices": 3,
        "n_experts": 1,
        "vocab_rows": int(rng.choice([211, 223, 227])),
        "learned_positions": 0,
        "tied_embeddings": False,
        "qkv_bias": False,
        "attn_out_bias": False,
        "mlp_bias": False,
        "lm_head_bias": False,
        "norms_per_layer": 2,
        "norm_params_per_norm": d,
        "qk_norm_params_per_layer": 0,
    } | fixed


def case(model, about, **others):
    """Make a case of a model that must be counted to the last unit."""
    return Case({"model": model, **others}, about, EXACT)


def known(name, **others):
    """Make a case of a published model."""
    return case(published(name), name, **others)
