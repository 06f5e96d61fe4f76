"""The tiny model of our own: its stored weights and loss curve, and runs of it to look at."""

import csv
from pathlib import Path

import numpy as np

from transformer_block._files import read_npz
from transformer_block._trees import flatten, tree_map, unflatten
from transformer_block.config import llama_config
from transformer_block.decoder import decoder_forward
from transformer_block.initialise import initialise_decoder
from transformer_block.softmax import softmax
from transformer_block.story import alphabet, tell_story
from transformer_block.tokenizer import CharacterTokenizer
from transformer_block.traces import trace_decoder, without_write

WEIGHTS = Path(__file__).parent / "data" / "tiny.npz"
CURVE = WEIGHTS.with_name("tiny_curve.csv")
REMEDY = "run `python -m transformer_block.train_tiny`"

HELD_OUT_SEED = 23


def tiny_config():
    """Describe the tiny model.

    Returns
    -------
    config : ModelConfig
        Two blocks of width 64 with four heads, the net as wide as 8d/3 rounded to 16.
    """
    return llama_config(
        d=64, n_layers=2, n_heads=4, n_kv_heads=4, h=176, V=len(alphabet()), model="tiny"
    )


def held_out_stories(n_stories=200, n_facts=None):
    """Tell stories of the kind that training never sees.

    Parameters
    ----------
    n_stories : int
        How many.
    n_facts : int, optional
        As in `tell_story`.

    Returns
    -------
    stories : list of Story
        The same ones every time.
    """
    rng = np.random.default_rng(HELD_OUT_SEED)
    return [tell_story(rng, n_facts, held_out=True) for _ in range(n_stories)]


def load_tiny(path=WEIGHTS, dtype=np.float32):
    """Read the tiny model.

    Parameters
    ----------
    path : str or Path
        The file that training wrote.
    dtype : type
        Of the parameters; they are stored in float16.

    Returns
    -------
    params : dict
        As `decoder_forward` takes them.
    config : ModelConfig
        The shape of the model; its functions want ``config.n_heads``.
    tokenizer : CharacterTokenizer
        One token per character.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, or holds the weights of another model.
    """
    flat = read_npz(path, REMEDY)
    config = tiny_config()
    wanted = flatten(initialise_decoder(config, np.random.default_rng(0)))
    if {n: a.shape for n, a in flat.items()} != {n: a.shape for n, a in wanted.items()}:
        raise ValueError(f"{path} holds the weights of another model: {REMEDY}")
    params = tree_map(lambda p: p.astype(dtype), unflatten(flat))
    return params, config, CharacterTokenizer(alphabet())


def load_curve(path=CURVE):
    """Read the loss curve of the tiny model.

    Parameters
    ----------
    path : str or Path
        The file that training wrote.

    Returns
    -------
    curve : dict
        ``loss`` and ``lesson`` (n_steps,), the weighted loss in nats a character and how many
        lessons the stories of each step had; ``exam`` (n,) and ``right`` (n,), the steps that
        an exam followed and the share of right answers in it. All texts are of the lesson that
        was on: the loss jumps up where a lesson begins, and with the length of the words.
    """
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    exams = [row for row in rows if row["right"]]
    return {
        "loss": np.array([float(row["loss"]) for row in rows]),
        "lesson": np.array([int(row["lesson"]) for row in rows]),
        "exam": np.array([int(row["step"]) for row in exams]),
        "right": np.array([float(row["right"]) for row in exams]),
    }


def run_story(story=None, path=WEIGHTS):
    """Run the tiny model on a story: what happened inside, and what each write was good for.

    Parameters
    ----------
    story : Story, optional
        From `tell_story` or `write_story`; ``None`` takes a held-out one of three facts.
    path : str or Path
        As in `load_tiny`.

    Returns
    -------
    run : dict
        ``story``; ``characters``, the T characters of its text; all of `trace_decoder` for
        them, without a batch axis; ``foretold`` (T - 1,), the probability that the model gave
        to ``characters[t + 1]`` at position t; and ``without`` (2L, T - 1), the same when one
        of the ``writes`` is left out.

    Examples
    --------
    The letters of the first answer are those that the model foretells from ``start - 1`` on:

    >>> run = run_story()
    >>> start, stop = run["story"].spans[0]
    >>> run["foretold"][start - 1 : stop - 1].min() > 0.9
    np.True_
    """
    story = held_out_stories(1, n_facts=3)[0] if story is None else story
    params, config, tokenizer = load_tiny(path)
    ids = tokenizer.encode(story.text)
    without = [_foretold(ids, without_write(params, i), config) for i in range(2 * config.n_layers)]
    return {
        "story": story,
        "characters": list(story.text),
        **trace_decoder(ids, params, config.n_heads),
        "foretold": _foretold(ids, params, config),
        "without": np.stack(without),
    }


def _foretold(ids, params, config):
    """Give the probability of each next token."""
    logits, _ = decoder_forward(ids[:-1], params, config.n_heads)
    return np.take_along_axis(softmax(logits), ids[1:, None], axis=-1)[:, 0]
