"""Stream ledger: who writes what into the stream of a token, and what the sum would say."""

from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.real_traces import SENTENCES, cosines, load_real_trace, sizes
from transformer_block.tiny import held_out_stories, load_tiny
from transformer_block.traces import logit_lens, top_tokens, trace_decoder
from transformer_block.widgets._base import self_contained, stylesheet
from transformer_block.widgets._stored import (
    YOURS,
    array_of,
    one_of,
    packed_arrays,
    text_of,
    tokens_of,
    within,
)

EPS = 1e-5
LISTED = 5  # tokens of the lens at each place
LONGEST = 128  # tokens of a trace of one's own
WHOLE = 512  # vocabularies up to this size are sent whole
ROOM = 2_000_000  # bytes of vectors; beyond it those of the last token alone are sent


class StreamLedger(anywidget.AnyWidget):
    """Show what attention and net write for each token, the sum of it, and what that would say.

    Parameters
    ----------
    model : str
        Whose stored runs are shown: ``"tiny"``, this course's own, with the vectors of every
        token, or ``"real"``, SmolLM2-135M, with those of the last.
    text : str
        Which of them; the first if it is not given.
    token : int
        Whose ledger is shown.
    place : int
        The chosen entry: 0 the embedding, then attention and net of each block in turn.
    off : list of int
        The entries that are not counted.
    shown : str
        What the map shows: ``"lens"``, ``"stream"`` or ``"write"``.
    trace : dict, optional
        A trace of yours: ``stream`` (2L + 1, T, d) and ``writes`` (2L, T, d), as from
        `trace_decoder`.
    params : dict
        The model that made it: ``final_norm`` and ``embedding`` or ``head``.
    tokens : sequence of str, optional
        The texts of the T tokens.
    vocabulary : sequence of str, optional
        The texts of all V tokens.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above, or the writes do not add up to the stream.
    """

    _esm = self_contained("stream_ledger")
    _css = stylesheet("maps", "stream_ledger")

    text = traitlets.Unicode().tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)
    place = traitlets.Int(0).tag(sync=True)
    off = traitlets.List(traitlets.Int()).tag(sync=True)
    shown = traitlets.Enum(["lens", "stream", "write"], "lens").tag(sync=True)
    runs = traitlets.List().tag(sync=True)  # of each what `run_of` describes
    data = traitlets.Bytes().tag(sync=True)  # the arrays of all runs, one after the other

    def __init__(
        self, model="tiny", trace=None, params=None, tokens=None, vocabulary=None, **moves
    ):
        if model not in STORED:
            raise traitlets.TraitError(f"model must be tiny or real: got {model!r}")
        stored = STORED[model] if trace is None else None
        shown = stored() if stored else joined([given_run(trace, params, tokens, vocabulary)])
        names = [run["name"] for run in shown["runs"]]
        text = one_of("text", moves.get("text", names[0]), names)
        run = shown["runs"][names.index(text)]
        start = {"text": text, "token": len(run["tokens"]) - 1, "place": run["places"] - 1}
        super().__init__(**shown, **{**start, **moves})

    @traitlets.validate("text")
    def _check_text(self, proposal):
        return one_of("text", proposal.value, [run["name"] for run in self.runs])

    @traitlets.validate("token", "place")
    def _check_cell(self, proposal):
        if proposal.trait.name == "token":
            count = max(len(run["tokens"]) for run in self.runs)
        else:
            count = max(run["places"] for run in self.runs)
        return within(proposal.trait, proposal.value, count)

    @traitlets.validate("off")
    def _check_off(self, proposal):
        places = max(run["places"] for run in self.runs)
        return sorted({within(proposal.trait, i, places) for i in proposal.value})


def run_of(text, arrays, *, places, d, words, said, whole, held, letters=False):
    """Describe a run to the browser: names in JSON, numbers as arrays to be packed.

    Returns
    -------
    run : dict
        What is written as JSON.
    arrays : dict
        ``stream``, ``write``, ``cosine``, ``lens`` and ``chance`` of all tokens; ``parts`` and
        ``end`` of those that are ``held``; ``head``, what scores the tokens ``said``.
    """
    about = {"places": places, "d": d, "eps": EPS, "listed": LISTED, "words": words}
    about |= {"said": said, "whole": whole, "held": held, "letters": letters}
    return {**text, **about}, arrays


def joined(runs):
    """Join runs: their descriptions as a list, and the bytes of all."""
    descriptions, data = [], b""
    for run, arrays in runs:
        listed, packed = packed_arrays(arrays)
        descriptions.append({**run, "arrays": listed, "begin": len(data)})
        data += packed
    return {"runs": descriptions, "data": data}


def lens_arrays(ids, chances, texts):
    """Write the tokens of a lens as numbers into a list of words."""
    words, where = np.unique(texts, return_inverse=True)
    listed = where.reshape(ids.shape)[..., :LISTED].astype(np.uint16)
    return [str(w) for w in words], {"lens": listed, "chance": chances[..., :LISTED].astype("f2")}


@cache
def real_runs():
    """Gather the stored runs of the pretrained model."""
    return joined([real_run(name) for name in SENTENCES])


def real_run(name):
    """Describe one of them: sizes of all tokens, vectors of the last."""
    trace = load_real_trace(name)
    words, lens = lens_arrays(trace["lens_ids"], trace["lens_probabilities"], trace["lens_tokens"])
    parts = np.concatenate([trace["stream"][:1], trace["writes"]])
    arrays = {
        "stream": trace["stream_rms"].astype("f4"),
        "write": trace["write_rms"].astype("f4"),
        "cosine": trace["write_cosine"].astype("f4"),
        **lens,
        "parts": parts.astype("f2"),
        "end": trace["stream"][-1].astype("f2"),
        "head": trace["head_rows"].astype("f2"),
    }
    return run_of(
        text_of(name, trace["tokens"]),
        arrays,
        places=len(parts),
        d=parts.shape[-1],
        words=words,
        said=[str(token) for token in trace["head_tokens"]],
        whole=False,
        held=[len(trace["tokens"]) - 1],
    )


@cache
def tiny_runs():
    """Run the tiny model on two stories, each up to the place in its first answer."""
    params, config, tokenizer = load_tiny(dtype=np.float64)
    runs = []
    for number, story in enumerate(held_out_stories(2, n_facts=2)):
        text = story.text[: story.spans[0][0]]
        trace = trace_decoder(tokenizer.encode(text), params, config.n_heads)
        title = f"Where is {story.facts[story.asked[0]][0]}?"
        about = {"name": f"story{number}", "title": title, "tokens": list(text)}
        vocabulary = [tokenizer.decode([i]) for i in range(len(params["embedding"]))]
        runs.append(traced_run(about, trace, params, vocabulary, letters=True))
    return joined(runs)


STORED = {"tiny": tiny_runs, "real": real_runs}


def traced_run(about, trace, params, vocabulary, letters=False):
    """Describe a trace that has the vectors of every token."""
    stream, writes = trace["stream"], trace["writes"]
    head = params.get("head", params["embedding"])
    lens = logit_lens(stream, params, EPS)  # (2L + 1, T, V)
    ids, chances = top_tokens(lens, min(LISTED, lens.shape[-1]))
    words, listed = lens_arrays(ids, chances, np.array(vocabulary)[ids])
    whole = len(head) <= WHOLE
    kept = np.arange(len(head)) if whole else np.sort(np.argsort(-lens[:, -1].max(axis=0))[:16])
    T, places, d = stream.shape[1], len(stream), stream.shape[-1]
    held = list(range(T)) if 4 * T * places * d <= ROOM else [T - 1]
    parts = np.concatenate([stream[:1], writes])[:, held].swapaxes(0, 1)
    arrays = {
        "stream": sizes(stream).astype("f4"),
        "write": sizes(writes).astype("f4"),
        "cosine": cosines(writes, stream[:-1]).astype("f4"),
        **listed,
        "parts": parts.astype("f4"),
        "end": stream[-1, held].astype("f4"),
        "head": (params["final_norm"] * head[kept]).astype("f4"),
    }
    said = [vocabulary[i] for i in kept]
    return run_of(
        about, arrays, places=places, d=d, words=words, said=said, whole=whole, held=held,
        letters=letters,
    )  # fmt: skip


def given_run(trace, params, tokens, vocabulary):
    """Check a trace of the learner's, and describe it.

    Raises
    ------
    traitlets.TraitError
        If it cannot be shown, or if embedding and writes do not add up to the stream.
    """
    if params is None or not {"stream", "writes"} <= set(trace):
        raise traitlets.TraitError("trace must have stream and writes, and params its model")
    stream, writes = (array_of(name, trace[name], (3,)) for name in ("stream", "writes"))
    places, T, d = stream.shape
    if writes.shape != (places - 1, T, d) or places % 2 == 0 or T > LONGEST:
        raise traitlets.TraitError(
            f"stream must be (2L + 1, T, d) and writes (2L, T, d), T up to {LONGEST}: "
            f"got {stream.shape} and {writes.shape}"
        )
    off = np.abs(stream[0] + writes.sum(axis=0) - stream[-1]).max()
    if off > 1e-2 * np.abs(stream[-1]).max():
        raise traitlets.TraitError(
            f"embedding and writes must add up to the stream: off by {off:.3g}"
        )
    V = len(params.get("head", params["embedding"]))
    names = [str(word) for word in (range(V) if vocabulary is None else vocabulary)]
    if len(names) != V:
        raise traitlets.TraitError(f"vocabulary must have V = {V} tokens: got {len(names)}")
    about = text_of(YOURS, tokens_of(tokens, T))
    return traced_run(about, {"stream": stream, "writes": writes}, params, names)
