"""Counts against the totals that makers publish, and against numbers worked out elsewhere."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import transformer_block
from transformer_block.budget import compute_optimal, tokens_within, training_compute
from transformer_block.config import ModelConfig, llama_config, published_models
from transformer_block.counting import (
    approximate_block_parameters,
    cache_bytes_per_token,
    count_parameters,
    gated_width,
    total_parameters,
    width_within,
)
from transformer_block.flops import (
    attention_share,
    balance_length,
    cached_token_flops,
    sequence_flops,
    token_flops,
    weights_per_token,
)

MODELS = published_models()
GPT2 = MODELS["GPT-2 small"]
LLAMA2, LLAMA3 = MODELS["LLaMA-1/2 7B"], MODELS["Llama-3 / 3.1 8B"]
MIXTRAL = MODELS["Mixtral 8x7B"]


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_a_published_model_add_up_to_its_published_total(name):
    assert total_parameters(MODELS[name]) == MODELS[name].total_params_published


def test_the_fields_are_the_columns_of_the_table():
    table = Path(transformer_block.__file__).parent / "data" / "models.csv"
    columns = table.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert [field.name for field in fields(ModelConfig)] == columns
    assert len(MODELS) == 24


def test_every_field_of_a_published_model_has_its_type():
    for config in MODELS.values():
        assert all(type(getattr(config, f.name)) is f.type for f in fields(ModelConfig))


def test_the_parts_are_those_of_a_slow_walk_over_every_array():
    """Write out all arrays of a small model with every peculiarity, and count their entries."""
    config = replace(
        MIXTRAL, d_model=7, n_layers=2, n_heads=6, n_kv_heads=3, head_dim=5, d_ff=11, n_experts=3,
        vocab_rows=13, learned_positions=17, qkv_bias=True, attn_out_bias=True, mlp_bias=True,
        lm_head_bias=True, norm_params_per_norm=14, qk_norm_params_per_layer=10,
    )  # fmt: skip
    block = {
        "W_q": [(7, 30)], "W_k": [(7, 15)], "W_v": [(7, 15)], "W_o": [(30, 7)],
        "attention biases": [(30,), (15,), (15,), (7,)],
        "net": [(7, 11), (7, 11), (11, 7)] * 3, "net biases": [(11,), (11,), (7,)] * 3,
        "router": [(7, 3)], "norms": [(2, 7), (2, 7)], "norms of q and k": [(5,), (5,)],
    }  # fmt: skip
    once = {
        "embedding": [(13, 7)], "positions": [(17, 7)], "final norm": [(2, 7)],
        "head": [(13, 7)], "head bias": [(13,)],
    }  # fmt: skip
    expected = {name: 2 * sum(map(np.prod, shapes)) for name, shapes in block.items()}
    expected |= {name: sum(map(np.prod, shapes)) for name, shapes in once.items()}
    assert count_parameters(config) == expected


def test_a_llama_by_its_sizes_is_the_published_one():
    small = llama_config(576, 30, 9, 3, 1536, 49_152)
    assert total_parameters(small) == MODELS["SmolLM2-135M"].total_params_published
    untied = llama_config(4096, 32, 32, 32, 11_008, 32_000, tied="untied")
    assert total_parameters(untied) == LLAMA2.total_params_published


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (count_parameters(GPT2)["embedding"], 38_597_376),
        (count_parameters(GPT2)["positions"], 786_432),
        (sum(weights_per_token(GPT2).values()), 123_532_032),
        (sum(weights_per_token(GPT2).values()) - weights_per_token(GPT2)["head"], 84_934_656),
        (count_parameters(LLAMA2)["norms"] + count_parameters(LLAMA2)["final norm"], 266_240),
        (total_parameters(LLAMA2) - count_parameters(LLAMA2)["head"], 6_607_343_616),
        (cache_bytes_per_token(LLAMA2), 512 * 1024),
        (cache_bytes_per_token(LLAMA3), 128 * 1024),
        (cache_bytes_per_token(LLAMA3, bytes_per_number=4), 256 * 1024),
    ],
)
def test_the_numbers_that_are_quoted_come_out(number, value):
    assert number == value


def test_grouped_queries_save_25_million_weights_in_each_block_of_llama_3():
    full = replace(LLAMA3, n_kv_heads=32)
    assert total_parameters(full) - total_parameters(LLAMA3) == 32 * 25_165_824


@pytest.mark.parametrize("d", [3, 768, 4096])
def test_a_block_is_twelve_or_sixteen_d_squared(d):
    assert approximate_block_parameters(d, 4 * d, "classic") == 12 * d * d
    assert approximate_block_parameters(d, 4 * d, "gated") == 16 * d * d
    assert approximate_block_parameters(3 * d, 8 * d, "gated") == 12 * (3 * d) ** 2


@pytest.mark.parametrize(
    ("d", "multiple_of", "multiplier", "h"),
    [
        (4096, 256, 1.0, 11_008),
        (5120, 256, 1.0, 13_824),
        (8192, 256, 1.0, 22_016),
        (4096, 1024, 1.3, 14_336),
        (8192, 4096, 1.3, 28_672),
        (576, 1, 1.0, 1536),
        (3, 8, 1.0, 8),
    ],
)
def test_the_width_of_the_gated_net_is_the_published_one(d, multiple_of, multiplier, h):
    assert gated_width(d, multiple_of, multiplier) == h


@pytest.mark.parametrize("net", ["gated", "classic"])
def test_the_width_within_a_budget_is_the_largest_that_fits(net):
    d, budget = 64, 61_000
    h = width_within(budget, d, multiple_of=8, net=net)
    assert approximate_block_parameters(d, h, net) <= budget
    assert approximate_block_parameters(d, h + 8, net) > budget


WITHOUT_BIASES = replace(GPT2, qkv_bias=False, attn_out_bias=False, mlp_bias=False)


@pytest.mark.parametrize("config", [GPT2, WITHOUT_BIASES], ids=["as published", "without biases"])
def test_a_gpt_2_small_sequence_costs_291_648_307_200_flops(config):
    parts = sequence_flops(config, 1024)
    assert sum(parts.values()) == 291_648_307_200
    assert parts["head"] == 79_047_426_048
    assert sum(sequence_flops(config, 1024, head="left out").values()) == 212_600_881_152
    assert token_flops(config, 1024) == 291_648_307_200 / 1024


def products(config, T):
    """List the (rows, inner, columns) of all products of one sequence, head by head."""
    d, K, h = config.d_model, config.head_dim, config.d_ff
    widths = [config.n_heads * K, config.n_kv_heads * K, config.n_kv_heads * K]
    block = [(T, d, width) for width in widths] + [(T, config.n_heads * K, d)]
    block += [(T, K, T), (T, T, K)] * config.n_heads
    block += [(T, d, h)] * (config.mlp_matrices - 1) + [(T, h, d)]
    return block * config.n_layers + [(T, d, config.vocab_rows)]


@pytest.mark.parametrize("name", ["GPT-2 xl", "Llama-3.2 1B", "Gemma-1 2B", "SmolLM2-135M"])
def test_flops_are_those_of_the_list_of_matrix_products(name):
    listed = sum(2 * a * b * c for a, b, c in products(MODELS[name], 37))
    assert sum(sequence_flops(MODELS[name], 37).values()) == listed


def test_the_conventions_differ_by_what_their_names_say():
    full, causal, none = (
        sequence_flops(GPT2, 37, attention=word) for word in ("full square", "causal", "left out")
    )
    one_pair = 4 * 12 * 768
    assert full["scores and mixing"] == 37 * 37 * one_pair
    assert causal["scores and mixing"] == sum(t + 1 for t in range(37)) * one_pair
    assert none["scores and mixing"] == 0
    table = sequence_flops(GPT2, 37, embedding="matrix product")
    assert table["embedding"] == table["head"] == 2 * 37 * 50_257 * 768
    assert full["embedding"] == 0


def test_training_is_three_forwards_and_four_with_recomputation():
    forward, training, again = (
        sequence_flops(LLAMA3, 41, work=word)
        for word in ("forward", "training", "training with recomputation")
    )
    assert training == {part: 3 * number for part, number in forward.items()}
    assert again == {part: 4 * number for part, number in forward.items()}


def test_two_p_and_six_p_come_out_where_attention_is_left_out():
    weights = sum(weights_per_token(LLAMA2).values())
    assert token_flops(LLAMA2, 53, attention="left out") == 2 * weights
    assert token_flops(LLAMA2, 53, attention="left out", work="training") == 6 * weights
    at_head = 6 * sum(weights_per_token(GPT2).values())
    assert (round(at_head, -6), round(6 * 84_934_656, -6)) == (741_000_000, 510_000_000)


def test_grouped_queries_do_not_lower_the_cost_of_scores_and_mixing():
    few, many = (sequence_flops(replace(LLAMA3, n_kv_heads=n), 59) for n in (1, 32))
    assert few["scores and mixing"] == many["scores and mixing"]
    assert few["projections"] < many["projections"]


@pytest.mark.parametrize(("T", "share"), [(4096, 0.075), (32_768, 0.394)])
def test_attention_takes_the_quoted_share_of_cached_generation(T, share):
    assert attention_share(LLAMA2, T, attention="causal") == pytest.approx(share, abs=5e-4)


def test_generating_with_a_cache_costs_as_much_as_one_causal_pass():
    one_by_one = sum(cached_token_flops(LLAMA3, t) for t in range(61))
    assert one_by_one == sum(sequence_flops(LLAMA3, 61, attention="causal").values())


@pytest.mark.parametrize("attention", ["full square", "causal"])
@pytest.mark.parametrize("head", ["counted", "left out"])
@pytest.mark.parametrize("name", ["GPT-2 small", "Llama-3 / 3.1 8B", "Gemma-1 7B"])
def test_at_the_balance_length_attention_has_half(name, head, attention):
    T = balance_length(MODELS[name], attention, head)
    below, above = (
        attention_share(MODELS[name], whole, attention=attention, head=head)
        for whole in (int(np.floor(T)), int(np.ceil(T)) + 1)
    )
    assert below <= 0.5 < above


def test_the_balance_length_of_a_classic_block_is_six_d():
    assert balance_length(GPT2, head="left out") == 6 * 768
    assert balance_length(GPT2, "causal", head="left out") == 12 * 768 - 1


def test_a_token_of_mixtral_visits_two_of_its_eight_nets():
    weights = weights_per_token(MIXTRAL, experts_per_token=2)
    assert weights["net"] == count_parameters(MIXTRAL)["net"] // 4
    assert weights["router"] == 32 * 4096 * 8
    active = sum(weights.values())
    assert round(active / 1e9, 1) == 12.7  # 12.9 with the embedding, as published
    assert token_flops(MIXTRAL, 1, experts_per_token=2, attention="left out") == 2 * active


def test_a_budget_of_6nd_goes_round():
    assert training_compute(70_000_000_000, 1_400_000_000_000) == pytest.approx(5.88e23)
    assert tokens_within(5.88e23, 70_000_000_000) == pytest.approx(1.4e12)
    N, D = compute_optimal(5.88e23)
    assert (N, D) == (pytest.approx(7e10), pytest.approx(1.4e12))
    assert training_compute(2 * 10, 7) == training_compute(10, 2 * 7) == 2 * training_compute(10, 7)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: replace(GPT2, n_kv_heads=5), "n_kv_heads must divide n_heads: "
         "got n_heads=12, n_kv_heads=5"),
        (lambda: replace(GPT2, d_model=0), "d_model must be positive: got 0"),
        (lambda: replace(GPT2, mlp_matrices=4), "mlp_matrices must be 2 or 3: got 4"),
        (lambda: llama_config(10, 1, 4, 2, 3, 5), "n_heads must divide d: got d=10, n_heads=4"),
        (lambda: llama_config(8, 1, 4, 2, 3, 5, tied="yes"),
         "tied must be 'tied' or 'untied': got 'yes'"),
        (lambda: approximate_block_parameters(3, 5, "swiglu"),
         "net must be 'gated' or 'classic': got 'swiglu'"),
        (lambda: gated_width(4096, 0),
         "d, multiple_of and multiplier must be positive: got 4096, 0 and 1.0"),
        (lambda: width_within(400, 10, 8),
         "budget must be at least 640 for d=10, h=8: got 400"),
        (lambda: sequence_flops(GPT2, 0), "T must be at least 1: got 0"),
        (lambda: sequence_flops(GPT2, 1, work="backward"), "work must be one of forward, "
         "training, training with recomputation: got 'backward'"),
        (lambda: token_flops(GPT2, 1, attention="masked"),
         "attention must be one of full square, causal, left out: got 'masked'"),
        (lambda: balance_length(GPT2, "left out"), "attention must be one of full square, causal "
         "and head one of counted, left out: got 'left out' and 'counted'"),
        (lambda: weights_per_token(MIXTRAL),
         "experts_per_token must be from 1 to n_experts=8: got None"),
        (lambda: sequence_flops(GPT2, 1, experts_per_token=2),
         "experts_per_token must be from 1 to n_experts=1: got 2"),
        (lambda: cached_token_flops(GPT2, -1), "t must be zero or more: got -1"),
        (lambda: training_compute(0, 1), "N must be positive: got 0"),
        (lambda: tokens_within(-1.0, 1), "C must be positive: got -1.0"),
        (lambda: compute_optimal(1.0, float("nan")), "tokens_per_parameter must be positive: "
         "got nan"),
    ],
)  # fmt: skip
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == text
