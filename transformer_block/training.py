"""Training: batches of stories, the loop, and how many questions the model answers."""

import numpy as np

from transformer_block.decoder import decoder_forward
from transformer_block.fast_decoder import fast_loss_and_gradients
from transformer_block.optimizer import adamw_start, adamw_update, clip_gradients, warmup_cosine


def pack_stories(stories, tokenizer, elsewhere=1.0):
    """Lay stories under one another, a row for each, as inputs and next tokens.

    Parameters
    ----------
    stories : list of Story
        From `tell_story`.
    tokenizer : CharacterTokenizer
        Turns them into ids.
    elsewhere : float
        The weight of a character outside the answers; those inside have weight 1.

    Returns
    -------
    inputs : ndarray of int
        A row for each story, of the length of the longest; short ones are filled up with token
        0. The shape is (B, T).
    targets : ndarray of int
        The same one token later.
    weights : ndarray of float32
        How much each target counts; zero after the end of a story.
    """
    longest = max(len(story.text) for story in stories)
    ids = np.zeros((len(stories), longest), dtype=np.int64)
    weights = np.zeros((len(stories), longest), dtype=np.float32)
    for row, story in enumerate(stories):
        ids[row, : len(story.text)] = tokenizer.encode(story.text)
        weights[row, : len(story.text)] = elsewhere
        for start, stop in story.spans:
            weights[row, start:stop] = 1.0
    return ids[:, :-1], ids[:, 1:], weights[:, 1:]


def train(params, batches, n_heads, n_steps, peak=3e-3, n_warmup=50, max_norm=1.0, **adamw):
    """Take one AdamW step for every batch, and yield what each step gave.

    Parameters
    ----------
    params : dict
        Where to start, as `decoder_forward` takes it.
    batches : iterator
        Inputs, targets and weights, as from `pack_stories`.
    n_heads : int
        H, the number of query heads.
    n_steps : int
        How many steps; the learning rate follows `warmup_cosine` down to a tenth of ``peak``.
    peak : float
        The largest learning rate.
    n_warmup : int
        Steps until it is reached.
    max_norm : float
        As in `clip_gradients`.
    **adamw
        More arguments of `adamw_update`.

    Yields
    ------
    record : dict
        ``step``, the weighted ``loss`` before it, the ``rate`` of it, and ``norm``, the length
        of the gradient before clipping.
    params : dict
        The parameters after the step.
    """
    state = adamw_start(params)
    for step in range(n_steps):
        inputs, targets, weights = next(batches)
        loss, grads = fast_loss_and_gradients(inputs, targets, params, n_heads, weights)
        grads, norm = clip_gradients(grads, max_norm)
        rate = warmup_cosine(step, peak, n_warmup, n_steps, floor=peak / 10)
        params, state = adamw_update(params, grads, state, rate, **adamw)
        yield {"step": step, "loss": loss, "rate": rate, "norm": norm}, params


def answers_right(stories, tokenizer, logits):
    """Tell which answers greedy generation writes to the letter.

    Parameters
    ----------
    stories : list of Story
        From `tell_story`.
    tokenizer : CharacterTokenizer
        The one the model was trained with.
    logits : ndarray of float
        Of the model at the inputs that `pack_stories` makes of the stories: (B, T, V).

    Returns
    -------
    right : ndarray of bool
        One entry for each answer, of one story after the other.

    Notes
    -----
    Greedy generation writes an answer exactly if the likeliest next character is the right one
    after each right beginning of it, and those beginnings all stand in the story: one forward
    pass tells.
    """
    _, targets, _ = pack_stories(stories, tokenizer)
    hits = np.argmax(logits, axis=-1) == targets  # hits[t]: character t + 1 is foretold
    spans = ((row, *span) for row, story in enumerate(stories) for span in story.spans)
    return np.array([hits[row, start - 1 : stop - 1].all() for row, start, stop in spans])


def choices_right(stories, tokenizer, logits):
    """Tell where the right place begins better than the other places of its story.

    Parameters
    ----------
    stories : list of Story
        From `tell_story`.
    tokenizer : CharacterTokenizer
        The one the model was trained with.
    logits : ndarray of float
        As in `answers_right`.

    Returns
    -------
    right : ndarray of bool
        One entry for each answer. Whoever guesses among n facts is right once in n times, even
        if too much of the model is lost to write the word.
    """
    right = []
    for row, story in enumerate(stories):
        firsts = tokenizer.encode("".join(place[0] for _, place in story.facts))
        for (start, _), i in zip(story.spans, story.asked, strict=True):
            right.append(np.argmax(logits[row, start - 1, firsts]) == i)
    return np.array(right)


def answer_accuracy(stories, params, n_heads, tokenizer):
    """Measure the share of the answers that greedy generation writes to the letter.

    Parameters
    ----------
    stories : list of Story
        From `tell_story`.
    params : dict
        As `decoder_forward` takes them.
    n_heads : int
        H, the number of query heads.
    tokenizer : CharacterTokenizer
        The one the model was trained with.

    Returns
    -------
    accuracy : float
        From 0 to 1.
    """
    inputs, _, _ = pack_stories(stories, tokenizer)
    logits, _ = decoder_forward(inputs, params, n_heads)
    return float(np.mean(answers_right(stories, tokenizer, logits)))
