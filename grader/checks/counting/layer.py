"""One layer of a real model: grouped heads, a head width of its own, biases, experts."""

from grader.checks.counting.judges import counts
from grader.checks.counting.layer_mistakes import MISTAKES, ORDER
from grader.checks.counting.layer_parts import layer
from grader.checks.counting.models import case, drawn, known
from grader.checks.engine.exercise import Claim, Exercise, by_name


def _heads(rng):
    yield case(drawn(rng), "a made-up model with grouped heads")
    yield known("Llama-3 / 3.1 8B")
    yield known("Gemma-1 7B")


def _biases(rng):
    yield case(drawn(rng, qkv_bias=True), "a made-up model with biases on q, k and v")
    yield case(drawn(rng, attn_out_bias=True), "a made-up model with a bias after W_o alone")
    yield case(drawn(rng, qkv_bias=True, attn_out_bias=True), "a made-up model with both biases")
    yield known("GPT-2 small")
    yield known("Qwen2.5-0.5B")


def _net(rng):
    yield case(drawn(rng), "a made-up model with a gated net")
    yield case(drawn(rng, mlp_matrices=2), "a made-up model with a classic net")
    yield known("LLaMA-1/2 7B")


def _net_biases(rng):
    yield case(drawn(rng, mlp_bias=True), "a made-up model, gated, with biases")
    yield case(drawn(rng, mlp_bias=True, mlp_matrices=2), "a made-up model, classic, with biases")
    yield known("GPT-2 small")


def _experts(rng):
    experts = int(rng.choice([5, 7, 11]))
    yield case(drawn(rng, n_experts=experts), f"a made-up model with {experts} nets in a layer")
    yield case(drawn(rng, n_experts=2), "a made-up model with 2 nets in a layer")
    yield known("Mixtral 8x7B")


LAYER = Exercise(
    name="layer_parameters",
    returns=("attention", "net"),
    reference=layer,
    claims=by_name(
        Claim(
            "heads",
            "Each matrix of attention has the width of its own heads.",
            _heads,
            ("attention",),
            counts,
        ),
        Claim(
            "biases",
            "Each bias of attention is counted where it exists.",
            _biases,
            ("attention",),
            counts,
        ),
        Claim("net", "Every matrix of the net is counted.", _net, ("net",), counts),
        Claim(
            "net_biases",
            "Each bias of the net has the width of its matrix's output.",
            _net_biases,
            ("net",),
            counts,
        ),
        Claim("experts", "All nets of a layer are counted.", _experts, ("net",), counts),
    ),
    mistakes=(*MISTAKES, ORDER),
)
