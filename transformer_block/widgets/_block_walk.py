"""Every array on the way through a small block and back, and the source line that makes it."""

import ast
import inspect
import math
import textwrap
from pathlib import Path

import numpy as np

from transformer_block import attention, block, rmsnorm, rope, softmax, swiglu
from transformer_block.heads import merge_heads, repeat_heads, split_heads

BLOCK = {"forward": block.transformer_block_forward, "backward": block.transformer_block_backward}

# Of each statement of the block: how it begins, and the steps within it. Of each step: the part
# that makes it, and how its statements there begin.
FORWARD = {
    "require_axes": {"x": None},
    "normed, norm1": {"norm1": (rmsnorm.rmsnorm_forward, "out =")},
    "attended": {
        "project": (attention.project_heads, "q = ", "k = ", "v = "),
        "turn": (attention.project_heads, "q, turn", "k, _"),
        "scores": (attention.causal_attention_forward, "scores ="),
        "weights": (attention.causal_attention_forward, "weights ="),
        "mix": (attention.causal_attention_forward, "return"),
        "W_o": (attention.causal_self_attention_forward, "return"),
    },
    "residual =": {"add1": None},
    "normed, norm2": {"norm2": (rmsnorm.rmsnorm_forward, "out =")},
    "fed": {
        "open": (swiglu.swiglu_forward, "gate =", "up ="),
        "product": (swiglu.swiglu_forward, "hidden ="),
        "W_down": (swiglu.swiglu_forward, "out ="),
    },
    "return": {"add2": None},
}
BACKWARD = {
    "dnormed, ffn_grads": {
        "split2": None,
        "dW_down": (swiglu.swiglu_backward, "dhidden ="),
        "dproduct": (swiglu.swiglu_backward, "dup =", "dgate ="),
        "dopen": (swiglu.swiglu_backward, "dx ="),
    },
    'dbranch, grads["ffn_norm"]': {"dnorm2": (rmsnorm.rmsnorm_backward, "dx =")},
    "dresidual": {"join2": None},
    "dnormed, attn_grads": {
        "split1": None,
        "dW_o": (attention.causal_self_attention_backward, "dmixed ="),
        "dmix": (attention.causal_attention_backward, "dvalues =", "dscores = "),
        "dweights": (softmax.softmax_backward, "mean =", "return"),
        "dscores": (attention.causal_attention_backward, "dscores /=", "dq =", "dkeys ="),
        "dturn": (rope.rope_backward, "return"),
        "dproject": (attention.causal_self_attention_backward, "dx ="),
    },
    'dbranch, grads["attn_norm"]': {"dnorm1": (rmsnorm.rmsnorm_backward, "dx =")},
    "dx =": {"join1": None},
}


def walk(x, params, n_heads, dout):
    """Run a block forward and back, and keep every array on the way.

    Parameters
    ----------
    x, dout : ndarray of float64, shape (T, d)
        What goes in below, and the gradient that comes in above.
    params : dict
        As for `transformer_block_forward`.
    n_heads : int
        H, the number of query heads.

    Returns
    -------
    values : dict of ndarray
        By name, in the order in which they are made; the weights' gradients are ``dW_q`` ….
    """
    out, cache = block.transformer_block_forward(x, params, n_heads)
    return {**upwards(x, out, cache), **downwards(dout, cache)}


def upwards(x, out, cache):
    """Read the arrays of the forward pass from its cache; make those that it does not keep."""
    _, attn_cache, residual, _, ffn_cache = cache
    normed1, params, _, (q, k, v, weights), merged = attn_cache
    normed2, _, gate, up, hidden = ffn_cache
    H, T, K = q.shape
    scores = q @ repeat_heads(k, H).swapaxes(-1, -2) / math.sqrt(K)
    return {
        "x": x,
        "normed1": normed1,
        "q": split_heads(normed1 @ params["W_q"], H),
        "k": split_heads(normed1 @ params["W_k"], k.shape[0]),
        "v": v,
        "q_turned": q,
        "k_turned": k,
        "scores": np.where(attention.causal_mask(T, T), scores, -np.inf),
        "weights": weights,
        "merged": merged,
        "attended": merged @ params["W_o"],
        "residual": residual,
        "normed2": normed2,
        "gate": gate,
        "up": up,
        "hidden": hidden,
        "fed": hidden @ params["W_down"],
        "out": out,
    }


def downwards(dout, cache):
    """Make the arrays of the backward pass, part by part as the library does."""
    norm1, attn_cache, _, norm2, ffn_cache = cache
    dx, grads = block.transformer_block_backward(dout, cache)
    net = net_downwards(dout, ffn_cache)
    dbranch2, _ = rmsnorm.rmsnorm_backward(net["dnormed2"], norm2)
    dresidual = dout + dbranch2
    heads = heads_downwards(dresidual, attn_cache)
    dbranch1, _ = rmsnorm.rmsnorm_backward(heads["dnormed1"], norm1)
    return {
        "dout": dout,
        **net,
        "dbranch2": dbranch2,
        "dresidual": dresidual,
        **heads,
        "dbranch1": dbranch1,
        "dx": dx,
        **{f"d{name}": gradient for name, gradient in grads.items()},
    }


def net_downwards(dout, ffn_cache):
    """Make the gradients within the feed-forward net, and the two shares of its input's."""
    _, params, gate, up, _ = ffn_cache
    dhidden = dout @ params["W_down"].T
    dup = dhidden * swiglu.silu(gate)
    dgate = dhidden * up * swiglu.silu_derivative(gate)
    return {
        "dhidden": dhidden,
        "dgate": dgate,
        "dup": dup,
        "from_gate": dgate @ params["W_gate"].T,
        "from_up": dup @ params["W_up"].T,
        "dnormed2": swiglu.swiglu_backward(dout, ffn_cache)[0],
    }


def heads_downwards(dresidual, attn_cache):
    """Make the gradients within attention, and the three shares of its input's."""
    _, params, turn, kept, _ = attn_cache
    q, _, v, weights = kept
    dmixed = split_heads(dresidual @ params["W_o"].T, len(q))
    dweights = dmixed @ repeat_heads(v, len(q)).swapaxes(-1, -2)
    dq, dk, dv = attention.causal_attention_backward(dmixed, kept)
    back = {"q": rope.rope_backward(dq, turn), "k": rope.rope_backward(dk, turn), "v": dv}
    shares = {f"from_{n}": merge_heads(d) @ params[f"W_{n}"].T for n, d in back.items()}
    return {
        "dmixed": dmixed,
        "dweights": dweights,
        "dv": dv,
        "dscores": softmax.softmax_backward(dweights, weights),
        "dq_turned": dq,
        "dk_turned": dk,
        "dq": back["q"],
        "dk": back["k"],
        **shares,
        "dnormed1": attention.causal_self_attention_backward(dresidual, attn_cache)[0],
    }


def listings():
    """Give the body of each pass of the block, as it stands in the source without docstring."""
    return {way: body_of(function)[0] for way, function in BLOCK.items()}


def lines():
    """Say for each step where its statement stands in the listing, and what it runs.

    Returns
    -------
    lines : dict
        By step: the pass, the first and the last line of its listing, the file of the part,
        and the statements there, one a line.
    """
    found = {}
    for way, statements in (("forward", FORWARD), ("backward", BACKWARD)):
        for begin, steps in statements.items():
            first, last, _ = statement(BLOCK[way], begin)
            for step, part in steps.items():
                found[step] = [way, first, last, *within(part)]
    return found


def within(part):
    """Look up the file and the statements of a step that lies within a part."""
    if part is None:
        return "", ""
    function, *begins = part
    written = [statement(function, begin)[2] for begin in begins]
    return Path(inspect.getsourcefile(function)).name, "\n".join(written)


def statement(function, begin):
    """Find the one statement of a function that begins so.

    Returns
    -------
    first, last : int
        Its lines, counted from 0 at the first statement after the docstring.
    text : str
        The statement on one line, without comments.

    Raises
    ------
    LookupError
        If there is none, or more than one.
    """
    text, body = body_of(function)
    found = [one for one in body if ast.get_source_segment(text, one).startswith(begin)]
    if len(found) != 1:
        raise LookupError(f"{function.__name__} must have one statement {begin!r}: {len(found)}")
    written = " ".join(ast.get_source_segment(text, found[0]).split())
    return found[0].lineno - 1, found[0].end_lineno - 1, written


def body_of(function):
    """Give the text of a function's body without its docstring, and its statements."""
    source = textwrap.dedent(inspect.getsource(function))
    begin = ast.parse(source).body[0].body[1].lineno - 1
    text = textwrap.dedent("\n".join(source.splitlines()[begin:]))
    return text, ast.parse(text).body
