"""Reading GGUF files: small ones with known contents, and files that must be refused."""

import builtins
from functools import partial

import gguf
import gguf_files
import numpy as np
import pytest
from gguf_files import FIELDS, H_KV, TOKENS, H, L, V, d, h

from transformer_block._trees import flatten
from transformer_block.counting import total_parameters
from transformer_block.decoder import decoder_forward
from transformer_block.gguf import load_gguf


@pytest.fixture
def arrays():
    return gguf_files.tensors(np.random.default_rng(2))


@pytest.fixture
def write(tmp_path):
    return partial(gguf_files.write, tmp_path / "small.gguf")


def test_every_tensor_is_in_its_place_and_turned_round(write, arrays):
    params = load_gguf(write(arrays)).params
    theirs = {
        "W_q": "attn_q", "W_k": "attn_k", "W_v": "attn_v", "W_o": "attn_output",
        "W_gate": "ffn_gate", "W_up": "ffn_up", "W_down": "ffn_down",
        "attn_norm": "attn_norm", "ffn_norm": "ffn_norm",
    }  # fmt: skip
    np.testing.assert_array_equal(params["embedding"], arrays["token_embd.weight"])
    np.testing.assert_array_equal(params["final_norm"], arrays["output_norm.weight"])
    assert "head" not in params
    assert len(params["blocks"]) == L
    for i, block in enumerate(params["blocks"]):
        assert block.keys() == theirs.keys()
        for name, array in block.items():
            np.testing.assert_array_equal(array, arrays[f"blk.{i}.{theirs[name]}.weight"].T)


def test_the_shape_and_the_settings_are_those_of_the_metadata(write, arrays):
    model = load_gguf(write(arrays))
    c = model.config
    assert (c.d_model, c.n_layers, c.n_heads, c.n_kv_heads, c.d_ff, c.vocab_rows) == (
        d, L, H, H_KV, h, V,
    )  # fmt: skip
    assert c.tied_embeddings
    assert model.settings == {"n_heads": H, "rope_base": 1234.0, "eps": 1e-5}
    assert model.context == 29


@pytest.mark.parametrize("tied", [True, False])
def test_counting_agrees_with_the_arrays_that_were_loaded(write, arrays, tied):
    if not tied:
        arrays["output.weight"] = 2 * arrays["token_embd.weight"]
    model = load_gguf(write(arrays))
    assert total_parameters(model.config) == sum(a.size for a in flatten(model.params).values())
    assert model.config.tied_embeddings is tied
    if not tied:
        np.testing.assert_array_equal(model.params["head"], arrays["output.weight"])


def test_everything_is_float32_writable_and_runs(write, arrays):
    model = load_gguf(write(arrays))
    assert {array.dtype for array in flatten(model.params).values()} == {np.dtype(np.float32)}
    logits, _ = decoder_forward(np.array([1, 7, 0]), model.params, **model.settings)
    assert logits.dtype == np.float32
    assert logits.shape == (3, V)


def q4_1_rows(rng, n_rows, n_blocks):
    """Draw rows of the 4-bit type; unpack them with the obvious loop over every number."""
    raw = np.empty((n_rows, n_blocks, 20), np.uint8)  # scale, least, then 32 halves of a byte
    raw[..., :4] = rng.uniform(-1, 1, (n_rows, n_blocks, 2)).astype(np.float16).view(np.uint8)
    raw[..., 4:] = rng.integers(256, size=(n_rows, n_blocks, 16))
    values = np.empty((n_rows, n_blocks, 32), np.float32)
    for row, block in np.ndindex(n_rows, n_blocks):
        scale, least = raw[row, block, :4].view(np.float16).astype(np.float32)
        for i, byte in enumerate(raw[row, block, 4:]):
            values[row, block, i] = scale * (byte & 15) + least
            values[row, block, i + 16] = scale * (byte >> 4) + least
    return raw.reshape(n_rows, -1), values.reshape(n_rows, -1)


def test_quantised_weights_are_scale_times_steps_plus_the_least(write):
    rng = np.random.default_rng(5)
    arrays = wide_tensors(rng)
    raw, values = q4_1_rows(rng, 7, 3)
    arrays["blk.1.ffn_up.weight"] = raw
    quantised = {"blk.1.ffn_up.weight": gguf.GGMLQuantizationType.Q4_1}
    fields = {**FIELDS, "llama.embedding_length": 96}
    model = load_gguf(write(arrays, fields, quantised=quantised))
    np.testing.assert_allclose(model.params["blocks"][1]["W_up"], values.T, rtol=1e-6, atol=1e-7)


def wide_tensors(rng):
    """Draw a model of width 96, so that a row is three blocks of 32 numbers."""
    wide = {(12,): (96,), (V, 12): (V, 96), (12, 12): (96, 96), (6, 12): (48, 96)}
    wide |= {(7, 12): (7, 96), (12, 7): (96, 7)}
    small = gguf_files.tensors(rng)
    return {name: np.ones(wide[array.shape], np.float32) for name, array in small.items()}


@pytest.mark.parametrize(
    ("rule", "text", "pieces"),
    [
        ("smollm", "ab ab", ["ab", "Ġab"]),
        ("smollm", "12", ["1", "2"]),
        ("gpt-2", "12", ["12"]),
        ("smollm", "c<end>a", ["c", "<end>", "a"]),
    ],
)
def test_text_is_cut_by_the_rule_and_merges_of_the_file(write, arrays, rule, text, pieces):
    tokenizer = load_gguf(write(arrays, {**FIELDS, "tokenizer.ggml.pre": rule})).tokenizer
    ids = tokenizer.encode(text)
    assert [TOKENS[i] for i in ids] == pieces
    assert ids.dtype == np.int64
    assert tokenizer.decode(ids) == text
    assert (len(tokenizer), tokenizer.end) == (V, 0)


def without(mapping, name):
    return {key: value for key, value in mapping.items() if key != name}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"architecture": "qwen2"}, "the architecture must be 'llama': got 'qwen2'"),
        (
            {"fields": {**FIELDS, "llama.rope.scaling.type": "yarn"}},
            "RoPE must not be scaled: got the scaling 'yarn'",
        ),
        (
            {"fields": {**FIELDS, "llama.rope.dimension_count": 1}},
            "RoPE must turn all K=2 features of a head: got 1",
        ),
        (
            {"fields": without(FIELDS, "llama.attention.head_count")},
            "llama.attention.head_count is missing",
        ),
        (
            {"fields": {**FIELDS, "llama.block_count": L + 1}},
            "blk.2.attn_q.weight is missing",
        ),
        (
            {"fields": {**FIELDS, "llama.block_count": L - 1}},
            "a plain Llama has no tensor blk.1.attn_k.weight: got 9 such",
        ),
        (
            {"fields": {**FIELDS, "llama.feed_forward_length": h + 2}},
            "W_gate of block 0 must have shape (12, 9): got (12, 7)",
        ),
        (
            {"fields": {**FIELDS, "llama.attention.head_count_kv": 2}},
            "W_k of block 0 must have shape (12, 4): got (12, 6)",
        ),
        (
            {"fields": {**FIELDS, "llama.embedding_length": 18}},
            "token_embd must have shape (11, 18): got (11, 12)",
        ),
        (
            {"fields": {**FIELDS, "tokenizer.ggml.model": "llama"}},
            "the tokenizer must be 'gpt2' with one of smollm, gpt-2: got 'llama' with 'smollm'",
        ),
    ],
)
def test_a_file_that_would_give_wrong_results_is_refused_in_one_line(write, arrays, changes, text):
    path = write(arrays, **changes)
    with pytest.raises(ValueError, match=r"small\.gguf: ") as told:
        load_gguf(path)
    assert str(told.value).endswith(f"small.gguf: {text}")
    assert "\n" not in str(told.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^no weights file at .*nowhere\.gguf$"):
        load_gguf(tmp_path / "nowhere.gguf")


def test_a_file_of_another_kind_is_told(tmp_path):
    path = tmp_path / "text.gguf"
    path.write_text("not weights\n" * 100)
    with pytest.raises(ValueError, match=r"text\.gguf is no GGUF file, or is cut off$"):
        load_gguf(path)


@pytest.mark.parametrize("kept", [0, 3, 17, 101, 503, 997, 2003, 3001, 0.5, 0.9, -40])
def test_a_file_that_is_cut_off_is_told_in_one_line(write, arrays, kept):
    path = write(arrays)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    with pytest.raises(ValueError, match=r"small\.gguf is no GGUF file, or is cut off$"):
        load_gguf(path)


def test_a_missing_package_is_named_with_the_way_to_get_it(write, arrays, monkeypatch):
    path, real = write(arrays), builtins.__import__

    def without_gguf(name, *rest, **more):
        if name == "gguf":
            raise ModuleNotFoundError("No module named 'gguf'", name="gguf")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_gguf)
    with pytest.raises(ModuleNotFoundError, match=r"package gguf: pip install gguf tokenizers$"):
        load_gguf(path)
