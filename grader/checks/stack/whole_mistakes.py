"""The stack there and back by hand, with knobs that turn it wrong, and the mistakes."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from grader.checks.stack.loss_pieces import gradient_of, loss_of, round_the_end, same_place
from grader.checks.stack.scatter import assigned, scattered
from transformer_block._trees import flatten
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward

N_BLOCKS = 2  # fixed, since the gradients are outputs with names


BLOCK = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_up", "W_down", "attn_norm", "ffn_norm")


BLOCKS = tuple(f"blocks.{number}.{name}" for number in range(N_BLOCKS) for name in BLOCK)


def normed(x, params):
    """Apply the final norm."""
    return rmsnorm_forward(x, params["final_norm"])


def _padded(text):
    """Give a loss of pairs the logits of all positions."""
    return np.concatenate([text, np.zeros_like(text[..., :1, :])], axis=-2)


def run(
    ids,
    params,
    n_heads,
    *,
    look=lambda ids, E: E[ids],
    forward_order=lambda blocks: blocks,
    up=transformer_block_forward,
    backward_order=lambda dblocks: dblocks,
    last_norm=normed,
    through_norm=rmsnorm_backward,
    down=transformer_block_backward,
    head=lambda E: E,
    pairs=None,
    factor=1.0,
    scatter=scattered,
    join=lambda bottom, top: bottom + top,
):
    """Run the stack forward and backward by hand; each knob is one line that can go wrong."""
    E = params["embedding"]
    read = ids if pairs else ids[..., :-1]
    x = look(read, E)
    caches = []
    for block in forward_order(params["blocks"]):
        x, cache = up(x, block, n_heads)
        caches.append(cache)
    out, norm = last_norm(x, params)
    logits = out @ head(E).T
    loss = loss_of(logits, ids, pairs=pairs) if pairs else loss_of(_padded(logits), ids)
    dlogits = gradient_of(logits, ids, pairs=pairs) if pairs else gradient_of(_padded(logits), ids)
    dlogits = factor * dlogits[..., : logits.shape[-2], :]
    top = np.einsum("tv,ti->vi", dlogits.reshape(-1, len(E)), out.reshape(-1, E.shape[1]))
    dx, dnorm = through_norm(dlogits @ head(E), norm)
    dblocks = []
    for cache in reversed(caches):
        dx, dblock = down(dx, cache)
        dblocks.insert(0, dblock)
    bottom = scatter(dx, read, E)
    grads = {
        "embedding": join(bottom, top),
        "blocks": backward_order(dblocks),
        "final_norm": dnorm,
    }
    return {"loss": loss, **flatten(grads)}


def _run(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda ids, params, n_heads: run(ids, params, n_heads, **knobs)


def _only(*names, **knobs):
    """Make a mistake of a wrong knob, and tell only these outputs."""

    def outputs(ids, params, n_heads):
        made = run(ids, params, n_heads, **knobs)
        return {name: made[name] for name in names}

    return outputs


def _embedding(**knobs):
    return _only("embedding", **knobs)


def _norm_twice(x, params):
    return normed(normed(x, params)[0], params)


def _no_norm(x, params):
    return x, rmsnorm_forward(x, params["final_norm"])[1]


def _gain_only(dout, cache):
    """Go back through the gain, and forget that the RMS depends on x."""
    _, weight, inv_rms, _ = cache
    return dout * weight * inv_rms, rmsnorm_backward(dout, cache)[1]


def _no_residual_path(dx, cache):
    """Send on what came back through the sublayers, without what came straight down."""
    back, grads = transformer_block_backward(dx, cache)
    return back - dx, grads


def _residual_again(x, block, n_heads):
    """Add the stream to what a block returns."""
    out, cache = transformer_block_forward(x, block, n_heads)
    return x + out, cache


def _straight_again(dx, cache):
    """Add what came down to what a block sends back."""
    back, grads = transformer_block_backward(dx, cache)
    return dx + back, grads


MISTAKES = (
    Mistake(
        "bottom_only",
        "In how many places does E act on the loss? Which of them is missing in its gradient?",
        _embedding(join=lambda bottom, top: bottom),
    ),
    Mistake(
        "top_only",
        "E made the logits. What else did it do, at the other end? Is that in its gradient?",
        _embedding(join=lambda bottom, top: top),
    ),
    Mistake(
        "averaged",
        "E is used twice. Are the two gradients added, or averaged?",
        _embedding(join=lambda bottom, top: (bottom + top) / 2),
    ),
    Mistake(
        "subtracted",
        "With which sign do the two gradients of E meet?",
        _embedding(join=lambda bottom, top: top - bottom),
    ),
    Mistake(
        "repeated_lost",
        "An id comes several times in the text. Do all its gradients reach its row of E? "
        "What does `array[ids] += g` do with an index that comes again?",
        _embedding(scatter=assigned),
    ),
    Mistake(
        "absent_rows_zero",
        "Does a token that is absent from the text get a gradient? Did it have a logit?",
        lambda ids, params, n_heads: {
            "embedding": run(ids, params, n_heads)["embedding"]
            * np.isin(np.arange(len(params["embedding"])), ids[..., :-1])[:, None]
        },
    ),
    Mistake(
        "not_shifted",
        "Which token should position t foretell: the one that it has read itself?",
        _run(pairs=same_place),
    ),
    Mistake(
        "round_the_end",
        "Which token follows the last one? Is the first one meant to?",
        _run(pairs=round_the_end),
    ),
    Mistake(
        "norm_missing",
        "What lies between the last block and the logits? Is it in your loss?",
        _only("loss", last_norm=_no_norm),
    ),
    Mistake(
        "norm_twice",
        "How often is the stream normalised before the logits?",
        _only("loss", last_norm=_norm_twice),
    ),
    Mistake(
        "blocks_upside_down",
        "In which order does the stream meet the blocks? Which comes first?",
        _only("loss", forward_order=lambda blocks: blocks[::-1]),
    ),
    Mistake(
        "first_block_only",
        "Through how many blocks does your stream go?",
        _only("loss", forward_order=lambda blocks: blocks[:1]),
    ),
    Mistake(
        "last_block_only",
        "Does each block begin with what the one before left, or with the embedding again?",
        _only("loss", forward_order=lambda blocks: blocks[-1:]),
    ),
    Mistake(
        "no_blocks",
        "Is there anything between the embedding and the final norm in your loss?",
        _only("loss", forward_order=lambda blocks: []),
    ),
    Mistake(
        "residual_again",
        "Does a block return what it writes, or the stream after it? You add x once more.",
        _only("loss", up=_residual_again),
    ),
    Mistake(
        "root_of_d",
        "Are the rows of E handed on as they are? By which factor do yours differ?",
        _only("loss", look=lambda ids, E: E[ids] * E.shape[1] ** 0.5),
    ),
    Mistake(
        "head_scaled",
        "Does a √d belong between the stream and the logits?",
        _only("loss", head=lambda E: E / E.shape[1] ** 0.5),
    ),
    Mistake(
        "gradients_upside_down",
        "The backward pass meets the last block first. In which order do you return the blocks?",
        _only(*BLOCKS, backward_order=lambda dblocks: dblocks[::-1]),
    ),
    Mistake(
        "norm_not_passed",
        "Does your gradient go back through the final norm before it enters the last block?",
        _only(
            *BLOCKS,
            "embedding",
            through_norm=lambda dout, cache: (dout, rmsnorm_backward(dout, cache)[1]),
        ),
    ),
    Mistake(
        "norm_without_rank_one",
        "The RMS of the final norm depends on x. Is that in its backward pass?",
        _only(*BLOCKS, "embedding", through_norm=_gain_only),
    ),
    Mistake(
        "residual_path_lost",
        "What comes straight down past the sublayers of a block? Is it in what you hand on?",
        _only(*BLOCKS, "embedding", down=_no_residual_path),
    ),
    Mistake(
        "straight_way_again",
        "You add what came down to what a block sends back. Is it not in there already?",
        _only(*BLOCKS, "embedding", down=_straight_again),
    ),
    Mistake(
        "from_above_the_blocks",
        "Which gradient belongs to the look-up: that above the blocks, or that below them?",
        _embedding(down=lambda dx, cache: (dx, transformer_block_backward(dx, cache)[1])),
    ),
    Mistake(
        "not_a_mean",
        "The loss is a mean over the pairs. Is every gradient that of a mean?",
        lambda ids, params, n_heads: _all_but_loss(
            run(ids, params, n_heads, factor=ids[..., 1:].size)
        ),
    ),
    Mistake(
        "descent",
        "Is it the gradient that is asked for, or the step against it?",
        lambda ids, params, n_heads: _all_but_loss(run(ids, params, n_heads, factor=-1.0)),
    ),
)


def _all_but_loss(made):
    return {name: value for name, value in made.items() if name != "loss"}
