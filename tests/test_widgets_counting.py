"""The counting ledger's Python side, and its numbers beside those of the library."""

import json
from dataclasses import replace

import numpy as np
import pytest
import traitlets
from test_widgets import TESTS, node

from transformer_block.config import published_models
from transformer_block.counting import count_parameters, total_parameters
from transformer_block.flops import balance_length, sequence_flops, token_flops
from transformer_block.widgets import CountingLedger
from transformer_block.widgets.counting_ledger import KEYS, PRESETS, config_of, numbers_of

MODELS = published_models()
SINGLE = [config for config in MODELS.values() if config.n_experts == 1]
PARTS = {
    "embedding": ["embedding"],
    "positions": ["positions"],
    "attention": ["W_q", "W_k", "W_v", "W_o"],
    "net": ["net"],
    "norms and biases": [
        "attention biases", "net biases", "norms", "norms of q and k", "final norm", "head bias",
    ],
    "head": ["head"],
}  # fmt: skip


def drawn(rng):
    """Draw a model of odd sizes, as large as the sliders allow."""
    n_kv_heads = int(rng.integers(1, 12))
    return replace(
        SINGLE[int(rng.integers(len(SINGLE)))],
        d_model=int(rng.integers(64, 12_288)), n_layers=int(rng.integers(1, 128)),
        n_heads=n_kv_heads * int(rng.integers(1, 10)), n_kv_heads=n_kv_heads,
        head_dim=int(rng.integers(1, 300)), d_ff=int(rng.integers(64, 32_768)),
        vocab_rows=int(rng.integers(256, 262_144)),
    )  # fmt: skip


def test_javascript_counts_to_the_last_digit_what_the_library_counts():
    rng = np.random.default_rng(0)
    configs = [*SINGLE, *(drawn(rng) for _ in range(40))]
    contexts = [int(T) for T in rng.integers(1, 2**20, size=len(configs))]
    asked = [{"shape": numbers_of(c), "T": T} for c, T in zip(configs, contexts, strict=True)]
    told = json.loads(node(TESTS / "widgets" / "counts.mjs", stdin=json.dumps(asked)))
    assert told["keys"] == list(KEYS)
    for config, T, counted in zip(configs, contexts, told["counted"], strict=True):
        parts = count_parameters(config)
        assert counted["parts"] == {
            name: sum(parts[part] for part in several) for name, several in PARTS.items()
        }
        assert counted["total"] == total_parameters(config)
        whole = sequence_flops(config, T, work="training")
        assert counted["flops"] == {
            "attention’s matrices": whole["projections"] // T,
            "net": whole["net"] // T,
            "head": whole["head"] // T,
            "scores and mixing": whole["scores and mixing"] // T,
        }
        assert counted["exact"] == token_flops(config, T, work="training")
        assert counted["balance"] == balance_length(config)


def test_it_opens_on_llama_2_7b_and_offers_published_models():
    ledger = CountingLedger()
    assert config_of(ledger.shape) == replace(
        config_of(numbers_of(MODELS["LLaMA-1/2 7B"])), model=""
    )
    assert list(ledger.presets) == list(PRESETS)
    for name, numbers in ledger.presets.items():
        shape = dict(zip(KEYS, numbers, strict=True))
        assert total_parameters(config_of(shape)) == MODELS[name].total_params_published


def test_another_model_and_context_can_be_shown():
    ledger = CountingLedger(MODELS["Phi-2"], T=77)
    assert ledger.T == 77
    assert total_parameters(config_of(ledger.shape)) == MODELS["Phi-2"].total_params_published
    json.dumps(ledger.get_state()["shape"])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CountingLedger(T=0), "T must be at least 1: got 0"),
        (lambda: CountingLedger(MODELS["Mixtral 8x7B"]), "n_experts must be 1: got 8"),
        (
            lambda: setattr(CountingLedger(), "shape", {"d_model": 3}),
            "shape is no model: .*missing",
        ),
        (
            lambda: setattr(CountingLedger(), "shape", CountingLedger().shape | {"d_ff": 0}),
            "shape is no model: d_ff must be positive: got 0",
        ),
    ],
)
def test_what_the_ledger_cannot_show_is_refused_with_a_sentence(make, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        make()
