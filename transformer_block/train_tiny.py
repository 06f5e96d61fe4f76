"""Train the tiny model again: ``python -m transformer_block.train_tiny``."""

import argparse
import csv
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np

from transformer_block._threads import one_thread
from transformer_block._trees import flatten, tree_map
from transformer_block.initialise import initialise_decoder
from transformer_block.story import ALL, N_FACTS, alphabet, tell_story
from transformer_block.tiny import (
    CURVE,
    WEIGHTS,
    held_out_stories,
    load_curve,
    load_tiny,
    tiny_config,
)
from transformer_block.tokenizer import CharacterTokenizer
from transformer_block.training import answer_accuracy, pack_stories, train

SEED, N_ROWS, WEIGHT_DECAY = 22, 16, 0.01
STD = 0.1  # near 1 / √d at this small width
# Nobody can foretell who is where: in the first sentences those letters are noise.
ELSEWHERE = 0.3
# The next lesson begins when 9 answers in 10 are right; every 25 steps that is looked at.
EXAM_EVERY, EXAM_STORIES, PASSED = 25, 24, 0.9
TERMS = (  # steps, largest learning rate, share of batches from an earlier lesson
    (1500, 5e-3, 0.3),
    (300, 2e-3, 0.0),
)
N_STEPS = sum(n for n, _, _ in TERMS)
TOLERANCE = 1e-4  # of a loss in the first steps: matrix products differ between processors


def start_tiny(rng):
    """Draw the parameters from which training starts.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    params : dict
        As `decoder_forward` takes them, in float32.

    Notes
    -----
    Two things are unlike `initialise_decoder`, and both help attention to begin. All rows of E
    share one random vector: RoPE turns what is there, so a head that looks for a place, such as
    the token before, needs a direction that every token has. And W_k equals W_q, so that a head
    looks at first for what is like the token it looks from.
    """
    config = tiny_config()
    params = initialise_decoder(config, rng, STD)
    shared = STD * rng.standard_normal(config.d_model).astype(np.float32)
    blocks = [{**block, "W_k": block["W_q"].copy()} for block in params["blocks"]]
    return {**params, "embedding": params["embedding"] + shared, "blocks": blocks}


def tiny_training(n_steps=N_STEPS):
    """Train the tiny model from its first step.

    Parameters
    ----------
    n_steps : int
        How many steps to take of the whole training, whose schedule stays as it is.

    Yields
    ------
    record : dict
        As from `train`; also ``lesson``, how many of the lessons its stories had, and ``right``,
        the share of answers that were right in the exam after it, or ``None`` without one.
    params : dict
        The parameters after the step, in float32.

    Notes
    -----
    The order of sums decides when a lesson is learned: with two threads another model comes out,
    which may stay in an earlier one. The command takes one thread, which is no slower here.

    The first term goes through the lessons. The second repeats the last one, with smaller steps
    that begin at the stored precision and with averages of AdamW that begin at zero.
    """
    yield from islice(_all_steps(), n_steps)


def _all_steps():
    """Yield every step of both terms."""
    rng, before, lesson = np.random.default_rng(SEED), 0, 0
    params = start_tiny(rng)
    for n_steps, peak, revised in TERMS:
        for record, trained in _term(rng, params, lesson, n_steps, peak, revised):
            yield {**record, "step": before + record["step"]}, trained
        rng, before, lesson = np.random.default_rng(SEED + n_steps), before + n_steps, ALL
        params = tree_map(lambda p: p.astype(np.float16).astype(np.float32), trained)


def _term(rng, params, lesson, n_steps, peak, revised):
    """Yield the steps of one term, with an exam now and then that lets the next lesson begin."""
    tokenizer, n_heads = CharacterTokenizer(alphabet()), tiny_config().n_heads

    def batches():
        while True:
            yield pack_stories(_draw_stories(rng, lesson, revised), tokenizer, ELSEWHERE)

    steps = train(params, batches(), n_heads, n_steps, peak, weight_decay=WEIGHT_DECAY)
    for record, trained in steps:
        right, taught = None, lesson
        if (record["step"] + 1) % EXAM_EVERY == 0:
            exam = [tell_story(rng, lesson=lesson) for _ in range(EXAM_STORIES)]
            right = answer_accuracy(exam, trained, n_heads, tokenizer)
            lesson += right > PASSED and lesson < ALL
        yield {**record, "lesson": taught, "right": right}, trained


def _draw_stories(rng, lesson, revised):
    """Tell stories of about one length: as many facts in all, and one lesson for all."""
    if rng.random() < revised:
        lesson = int(rng.integers(lesson + 1))
    n_facts = int(rng.choice(N_FACTS))
    return [tell_story(rng, n_facts, lesson) for _ in range(N_ROWS)]


def save_tiny(path, params):
    """Write the parameters to an npz file, in float16.

    Parameters
    ----------
    path : str or Path
        The file to write.
    params : dict
        From `tiny_training`.
    """
    np.savez_compressed(path, **flatten(tree_map(lambda p: p.astype(np.float16), params)))


def save_curve(path, records):
    """Write the loss curve, one line a step.

    Parameters
    ----------
    path : str or Path
        The file to write.
    records : list
        From `tiny_training`.
    """
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["step", "loss", "lesson", "right"])
        for record in records:
            right = "" if record["right"] is None else f"{record['right']:.4g}"
            table.writerow([record["step"], f"{record['loss']:.6g}", record["lesson"], right])


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list, optional
        Its arguments; ``None`` takes those of the command line.

    Returns
    -------
    status : int
        0 if all is well, 1 if the losses differ from the stored ones.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_block.train_tiny",
        description="Train the tiny model and write its weights and its loss curve.",
    )
    parser.add_argument(
        "--out", type=Path, default=WEIGHTS.parent, metavar="DIR", help="where to write both files"
    )
    parser.add_argument(
        "--check",
        type=int,
        metavar="N",
        help="write nothing: train N steps and compare their losses with the stored curve",
    )
    arguments = parser.parse_args(argv)
    if arguments.check is not None:
        if not 1 <= arguments.check <= N_STEPS:
            parser.error(f"N must lie from 1 to {N_STEPS}: got {arguments.check}")
        with one_thread():
            return _check(arguments.check)
    with one_thread():
        return _make(arguments.out)


def _check(n_steps):
    """Compare the first losses with the stored ones; say how far they are apart."""
    stored = load_curve()["loss"]
    apart = [abs(record["loss"] - stored[record["step"]]) for record, _ in _shown(n_steps)]
    print(f"{len(apart)} losses differ from the stored ones by at most {max(apart):.1e}")
    return 0 if max(apart) <= TOLERANCE else 1


def _make(folder):
    """Train, write, read again and measure."""
    begin, records = time.perf_counter(), []
    for step in _shown(N_STEPS):
        records.append(step[0])
    print(f"{N_STEPS} steps in {time.perf_counter() - begin:.0f} s")
    folder.mkdir(parents=True, exist_ok=True)
    weights, curve = folder / WEIGHTS.name, folder / CURVE.name
    save_tiny(weights, step[1])
    save_curve(curve, records)
    print(_answers(weights))
    print(f"wrote {weights} ({weights.stat().st_size / 1000:.0f} kB) and {curve}")
    return 0


def _answers(weights):
    """Say how many questions the stored weights answer."""
    params, config, tokenizer = load_tiny(weights)
    stories = held_out_stories()
    accuracy = answer_accuracy(stories, params, config.n_heads, tokenizer)
    n_questions = sum(len(story.spans) for story in stories)
    return f"{accuracy:.1%} of {n_questions} questions of held-out stories are answered right"


def _shown(n_steps):
    """Yield the steps of training; on a terminal, show where it is."""
    for record, params in tiny_training(n_steps):
        if sys.stderr.isatty():
            line = f"\rstep {record['step'] + 1} of {n_steps}"
            line += f", lesson {record['lesson']} of {ALL}, loss {record['loss']:.4f} "
            print(line, end="", file=sys.stderr, flush=True)
        yield record, params
    if sys.stderr.isatty():
        print(file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
