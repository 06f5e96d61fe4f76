"""The ways in which a GPT-2 block goes wrong: one formula with a knob for each."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np

from grader.checks.block import wirings
from grader.checks.engine.exercise import Mistake
from transformer_block.layernorm import layernorm_forward


def _layernorm(rows, gain, bias, eps):
    """Compute the library's own norm: a block that writes nothing is compared bit for bit."""
    return layernorm_forward(rows, gain, bias, eps)[0]


def _rms_with_bias(rows, gain, bias, eps):
    return rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + eps) * gain + bias


def _sample_variance(rows, gain, bias, eps):
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(rows.var(axis=-1, keepdims=True, ddof=1) + eps) * gain + bias


def _eps_outside(rows, gain, bias, eps):
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return centred / (rows.std(axis=-1, keepdims=True) + eps) * gain + bias


def _bias_inside(rows, gain, bias, eps):
    return (_layernorm(rows, np.ones_like(gain), np.zeros_like(bias), eps) + bias) * gain


def _tanh_gelu(t):
    return t / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (t + 0.044715 * t**3)))


def _exact_gelu(t):
    return t / 2 * (1 + np.vectorize(math.erf)(t / 2**0.5))


def _silu(t):
    return t / (1 + np.exp(-t))


def _quick_gelu(t):
    return t / (1 + np.exp(-1.702 * t))


def _heads(rows, n_heads):
    return rows.reshape(*rows.shape[:-1], n_heads, -1).swapaxes(-3, -2)


def _turn(rows):
    """Turn interleaved pairs as a Llama does."""
    T, K = rows.shape[-2:]
    angles = np.arange(T)[:, None] * 10_000.0 ** (-np.arange(0, K, 2) / K)
    pairs = (rows[..., ::2] + 1j * rows[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(rows.shape)


def _attend(q, k, v, *, masked, width, turn):
    q, k = (_turn(q), _turn(k)) if turn else (q, k)
    scores = q @ k.swapaxes(-1, -2) / (width or q.shape[-1]) ** 0.5
    if masked:
        scores = np.where(np.tri(q.shape[-2], dtype=bool), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (e / e.sum(axis=-1, keepdims=True) @ v).swapaxes(-3, -2)
    return mixed.reshape(*mixed.shape[:-2], -1)


def old_block_with(
    x, params, n_heads, eps=1e-5, *, order="pre", norm=_layernorm, norms=("attn", "ffn"),
    activation=_tanh_gelu, drop=(), masked=True, wide=False, turn=False,
):  # fmt: skip
    """Compute a GPT-2 block with one thing done another way."""
    p = {**params, **{name: 0.0 * params[name] for name in drop if name[:2] == "b_"}}
    p |= {n: np.full_like(p[n], 1.0 * (not n.endswith("bias"))) for n in drop if n[:2] != "b_"}

    def normed(rows, half):
        return norm(rows, p[f"{half}_norm"], p[f"{half}_norm_bias"], eps)

    def attn(rows):
        q, k, v = (_heads(rows @ p[f"W_{n}"] + p[f"b_{n}"], n_heads) for n in "qkv")
        width = x.shape[-1] if wide else 0
        mixed = _attend(q, k, v, masked=masked, width=width, turn=turn)
        return mixed @ p["W_o"] + p["b_o"]

    def net(rows):
        return activation(rows @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]

    norm1, norm2 = (partial(normed, half=half) for half in norms)
    parts = SimpleNamespace(norm1=norm1, attn=attn, norm2=norm2, net=net)
    return {"out": ORDERS[order](x, parts)}


ORDERS = {
    "post": wirings.post_norm, "carried": wirings.stream_normalised,
    "first_carried": wirings.first_stream_normalised,
    "second_carried": wirings.second_stream_normalised, "parallel": wirings.net_reads_x,
    "first_add_lost": wirings.no_first_residual, "second_add_lost": wirings.no_second_residual,
    "from_the_start": wirings.second_adds_to_x, "both_adds_lost": wirings.no_residuals,
    "net_first": wirings.net_first, "bare_net": wirings.net_reads_raw,
    "bare_attention": wirings.attention_reads_raw, "pre": wirings.right,
}  # fmt: skip
QUESTIONS = {
    "post": "Does GPT-2 normalise before a sublayer, or after the add?",
    "carried": "What is added back: the stream, or its normalised copy?",
    "first_carried": "Is what attention writes added to x, or to the normalised x?",
    "second_carried": "Is what the net writes added to the stream, or to its normalised copy?",
    "parallel": "Which stream does the net read: the one before attention has written?",
    "first_add_lost": "What becomes of x if attention writes nothing?",
    "second_add_lost": "What becomes of the stream if the net writes nothing?",
    "from_the_start": "To what is the net's write added? Try a net that writes nothing.",
    "both_adds_lost": "If neither sublayer writes anything, what does your block return?",
    "net_first": "Who writes first: attention, or the net?",
    "bare_net": "Which norm stands in front of the net?",
    "bare_attention": "Which norm stands in front of attention?",
}


def _with(**knobs):
    return lambda **inputs: old_block_with(**inputs, **knobs)


def _fixed_eps(**inputs):
    if "eps" not in inputs:
        raise ValueError("only another ε shows this mistake")
    return old_block_with(**{**inputs, "eps": 1e-5})


KNOBS = (
    ("rms", "What does LayerNorm do to a row before it scales it?", {"norm": _rms_with_bias}),
    (
        "sample_variance",
        "By how many do you divide for the variance: d, or one less?",
        {"norm": _sample_variance},
    ),
    ("eps_outside", "Where does your ε stand: inside the root?", {"norm": _eps_outside}),
    (
        "norm_bias_first",
        "In which order do gain and bias of a norm come?",
        {"norm": _bias_inside},
    ),
    (
        "norm_biases_missing",
        "Do your norms use everything that they are given?",
        {"drop": ("attn_norm_bias", "ffn_norm_bias")},
    ),
    ("gains_missing", "Where do the gains come in?", {"drop": ("attn_norm", "ffn_norm")}),
    ("norms_swapped", "Which norm belongs to which half?", {"norms": ("ffn", "attn")}),
    ("one_norm_twice", "Do both halves use the same gain?", {"norms": ("attn", "attn")}),
    (
        "biases_missing",
        "Six matrices: how many biases does your block add?",
        {"drop": ("b_q", "b_k", "b_v", "b_o", "b_1", "b_2")},
    ),
    (
        "projection_biases_missing",
        "Do queries, keys and values have all that belongs to them?",
        {"drop": ("b_q", "b_k", "b_v")},
    ),
    (
        "written_biases_missing",
        "Two matrices write into the stream. What does each of them add to its product?",
        {"drop": ("b_o", "b_2")},
    ),
    ("value_bias_missing", "What does every value have added to it?", {"drop": ("b_v",)}),
    ("query_bias_missing", "What does every query have added to it?", {"drop": ("b_q",)}),
    ("output_bias_missing", "What follows W_o?", {"drop": ("b_o",)}),
    ("hidden_bias_missing", "What is added before GELU?", {"drop": ("b_1",)}),
    ("net_bias_missing", "What is the last thing that the net adds?", {"drop": ("b_2",)}),
    ("silu", "Which curve does GPT-2's net have between its matrices?", {"activation": _silu}),
    (
        "quick_gelu",
        "Is your GELU the one of this course, or a quick stand-in for it?",
        {"activation": _quick_gelu},
    ),
    (
        "exact_gelu",
        "Yours is GELU to three digits. In which of its two forms does GPT-2 compute it?",
        {"activation": _exact_gelu},
    ),
    (
        "relu",
        "What does your net make of a feature at −0.5?",
        {"activation": lambda t: np.maximum(t, 0)},
    ),
    (
        "no_activation",
        "Two matrices in a row are one matrix. What stands between yours?",
        {"activation": lambda t: t},
    ),
    ("rope", "How does GPT-2 know positions? Are they already in x?", {"turn": True}),
    ("no_mask", "Does your first token see the last one?", {"masked": False}),
    ("scaled_by_width", "Over how many products does one score sum?", {"wide": True}),
)

OLD_BLOCK_MISTAKES = (
    *(Mistake(name, question, _with(order=name)) for name, question in QUESTIONS.items()),
    *(Mistake(name, question, _with(**knobs)) for name, question, knobs in KNOBS),
    Mistake("eps_ignored", "Does your function pass its own ε on to the norms?", _fixed_eps),
)
