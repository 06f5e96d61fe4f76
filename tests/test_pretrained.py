"""The real model: a published Llama-family model gives Hugging Face's tokens, logits and text."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from transformer_block._trees import flatten
from transformer_block.config import published_models
from transformer_block.counting import total_parameters
from transformer_block.decoder import decoder_forward
from transformer_block.fast_generate import fast_generate
from transformer_block.generate import decoder_step, generate
from transformer_block.pretrained import continue_text, load_pretrained
from transformer_block.rope import half_split_order

pytestmark = pytest.mark.pretrained

STORED = json.loads((Path(__file__).parent / "data" / "huggingface_smollm2.json").read_text())
FRANCE = "The capital of France is"


@pytest.fixture(scope="module")
def model():
    return load_pretrained()


def last_logits(params, model, ids):
    return decoder_forward(np.array(ids), params, **model.settings)[0][-1]


@pytest.mark.parametrize("text", STORED["tokens"])
def test_text_becomes_the_tokens_of_hugging_face_and_comes_back(model, text):
    ids = model.tokenizer.encode(text)
    assert ids.tolist() == STORED["tokens"][text]
    assert model.tokenizer.decode(ids) == text


@pytest.mark.parametrize("prompt", STORED["last"])
def test_logits_are_those_of_hugging_face_in_float32(model, prompt):
    logits = last_logits(model.params, model, STORED["tokens"][prompt])
    stored = STORED["last"][prompt]
    assert logits.dtype == np.float32
    # Measured: 5e-5. Both sides round in float32, 30 blocks deep, and logits reach 20.
    assert np.max(np.abs(logits[stored["ids"]] - stored["logits"])) < 2e-4
    assert np.argsort(-logits)[:5].tolist() == stored["ids"][:5]


def test_the_capital_of_france_is_paris(model):
    logits = last_logits(model.params, model, model.tokenizer.encode(FRANCE))
    assert model.tokenizer.decode([np.argmax(logits)]) == " Paris"


def test_the_shape_is_the_published_one_and_every_parameter_is_counted(model):
    published = published_models()["SmolLM2-135M"].total_params_published
    assert total_parameters(model.config) == published
    assert sum(array.size for array in flatten(model.params).values()) == published


def test_the_other_rope_layout_is_far_off_and_still_writes_text(model):
    """Read W_q and W_k as if their pairs stood half a head apart: nothing else tells of it."""
    order = np.argsort(half_split_order(model.config.head_dim))

    def misread(W):
        return W.reshape(len(W), -1, len(order))[..., order].reshape(W.shape)

    blocks = [
        {**b, "W_q": misread(b["W_q"]), "W_k": misread(b["W_k"])} for b in model.params["blocks"]
    ]
    params = {**model.params, "blocks": blocks}
    ids = model.tokenizer.encode(FRANCE)
    right, wrong = (last_logits(p, model, ids) for p in (model.params, params))
    assert 3 < np.max(np.abs(right - wrong)) < 12
    text = model.tokenizer.decode(generate(ids, params, n_new=12, **model.settings)[len(ids) :])
    assert sum(c.isalpha() or c == " " for c in text) > 0.7 * len(text)


@pytest.mark.parametrize("write", [generate, fast_generate])
@pytest.mark.parametrize("prompt", STORED["greedy"])
def test_greedy_text_is_that_of_hugging_face_with_cache(model, prompt, write):
    ids, wanted = model.tokenizer.encode(prompt), STORED["greedy"][prompt]
    out = write(ids, model.params, n_new=len(wanted), context=model.context, **model.settings)
    assert out[len(ids) :].tolist() == wanted


def test_the_cache_changes_nothing(model):
    ids = model.tokenizer.encode(FRANCE)
    full = last_logits(model.params, model, ids)
    past = None
    for i in range(len(ids)):
        logits, past = decoder_step(ids[i : i + 1], model.params, past=past, **model.settings)
    assert np.max(np.abs(logits - full)) < 2e-4


def test_a_text_beyond_the_context_is_refused_before_any_work(model):
    ids = np.zeros(model.context, dtype=np.int64)
    with pytest.raises(ValueError, match=r"context of 8192 tokens: got T=8193$"):
        generate(ids, model.params, n_new=1, context=model.context, **model.settings)


def test_a_continuation_stops_at_the_model_s_own_end(model):
    text = "".join(continue_text(model, FRANCE, 100))
    ended = STORED["greedy"][FRANCE].index(model.tokenizer.end)
    assert text == model.tokenizer.decode(STORED["greedy"][FRANCE][:ended])


def test_characters_of_several_tokens_come_whole(model):
    prompt = "Repeat after me: 🙂 🙂 🙂 🙂 🙂 🙂 🙂 🙂"
    pieces = list(continue_text(model, prompt, 12))
    assert "🙂" in "".join(pieces)
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)


def test_the_command_prints_a_continuation():
    command = [sys.executable, "-m", "transformer_block.pretrained", FRANCE, "--tokens", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{FRANCE} Paris.\n", "")
