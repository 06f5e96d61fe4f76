"""A whole model, exactly: layers, norms, embedding, positions, head."""

from grader.checks.counting.judges import counts
from grader.checks.counting.model_mistakes import MISTAKES, total
from grader.checks.counting.models import case, drawn, known
from grader.checks.engine.exercise import Claim, Exercise, by_name

ODD = {
    "n_experts": 3, "norms_per_layer": 1, "lm_head_bias": True, "qkv_bias": True,
    "attn_out_bias": True, "mlp_bias": True,
}  # fmt: skip


def _plain(rng):
    yield case(drawn(rng), "a made-up model with a head of its own")
    yield known("LLaMA-1/2 7B")
    yield known("Llama-3 / 3.1 8B")


def _tied(rng):
    yield case(drawn(rng, tied_embeddings=True), "a made-up model with a tied head")
    yield known("SmolLM2-135M")
    yield known("Gemma-1 2B")


def _gpt_2(rng):
    model = drawn(
        rng, mlp_matrices=2, learned_positions=int(rng.choice([29, 31, 37])), tied_embeddings=True,
        qkv_bias=True, attn_out_bias=True, mlp_bias=True,
    )  # fmt: skip
    model["norm_params_per_norm"] *= 2
    yield case(model, "a made-up model in the manner of GPT-2")
    yield known("GPT-2 small")
    yield known("GPT-2 xl")


def _odd(rng):
    yield case(drawn(rng, qk_norm_params_per_layer=34), "a made-up model with norms on q and k")
    yield case(drawn(rng, qkv_bias=True), "a made-up model with biases on q, k and v alone")
    yield case(drawn(rng, norm_params_per_norm=0), "a made-up model whose norms have no parameters")
    yield case(drawn(rng, **ODD), "a made-up model with one norm a layer, experts and all biases")
    for name in ("Phi-2", "OLMo-1B (0724 config)", "Qwen3-0.6B", "Mixtral 8x7B"):
        yield known(name)


MODEL = Exercise(
    name="model_parameters",
    returns=("total",),
    reference=total,
    claims=by_name(
        Claim(
            "plain",
            "A Llama with a head of its own is counted to the last number.",
            _plain,
            ("total",),
            counts,
        ),
        Claim("tied", "A tied matrix is counted once.", _tied, ("total",), counts),
        Claim(
            "gpt_2",
            "Biases, a table of positions and LayerNorms are counted.",
            _gpt_2,
            ("total",),
            counts,
        ),
        Claim(
            "odd",
            "Models that do one thing in their own way come out exactly.",
            _odd,
            ("total",),
            counts,
        ),
    ),
    mistakes=MISTAKES,
)
