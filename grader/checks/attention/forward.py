"""The whole layer, forward: projections, heads, RoPE, mixing, output projection."""

import numpy as np

from grader.checks.attention.forward_mistakes import FORWARD_MISTAKES
from grader.checks.attention.inputs import in_float32, layer
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from transformer_block.attention import causal_self_attention_forward


def _one_head(rng):
    yield Case(layer(rng, H=1), "one head")


def _heads(rng):
    yield Case(layer(rng), "three heads")
    yield Case(
        layer(rng, K=4, d=12, leading=(2,)), "three heads that fill the width, two sequences"
    )


def _positions(rng):
    gaps = np.cumsum(rng.integers(2, 9, size=5))
    yield Case(layer(rng, base=30.0), "RoPE of base 30")
    yield Case(layer(rng, positions=gaps), "positions with gaps")


def _causal(rng):
    inputs = layer(rng)
    inputs["x"][..., -1, :] *= 1e6
    yield Case(inputs, "the last token's row is a million times larger")
    inputs = layer(rng)
    inputs["params"]["W_k"] = -1e11 * inputs["params"]["W_q"]
    yield Case(inputs, "keys opposite to queries, scores far below −1e9")


def _grouped(rng):
    yield Case(layer(rng, H=4, H_kv=2), "4 query heads, 2 key/value heads")
    yield Case(layer(rng, H=6, H_kv=3, leading=(2,)), "6 query heads, 3 key/value heads")


def _types(rng):
    yield Case(in_float32(layer(rng)), "all arrays in float32", 1e-4)


def _untouched(rng):
    yield Case(layer(rng), "three heads, looked at again after the call")


FORWARD = Exercise(
    name="causal_self_attention_forward",
    returns=("out", "cache"),
    reference=lambda **inputs: {"out": causal_self_attention_forward(**inputs)[0]},
    claims=by_name(
        Claim(
            "one_head", "With one head, the four matrices play their parts.", _one_head, ("out",)
        ),
        Claim("heads", "Heads are slices of features, each with its own.", _heads, ("out",)),
        Claim("positions", "Queries and keys are turned, and values not.", _positions, ("out",)),
        Claim("causal", "What comes later changes nothing before it.", _causal, ("out",)),
        Claim("grouped", "W_k says how many key heads there are.", _grouped, ("out",)),
        Claim("types", "float32 goes in and float32 comes out.", _types, ("out",), keeps_dtype),
        Claim(
            "untouched",
            "x and the matrices are left as they were.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=FORWARD_MISTAKES,
)
