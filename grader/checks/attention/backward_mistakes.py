"""The ways in which the backward pass of the layer goes wrong."""

from grader.checks.attention.formulas import halves, merge_alone, split_alone, swap, turned
from grader.checks.attention.gradients import gradients, over_tokens
from grader.checks.attention.softmax_backward import SOFTMAX_BACK_MISTAKES
from grader.checks.engine.exercise import Mistake


def _with(**knobs):
    return lambda **inputs: gradients(**inputs, **knobs)


def _grouped_only(gather):
    """Make a way to gather the queries of a group, where there are groups."""

    def formula(dheads, H_kv):
        *leading, H, S, K = dheads.shape
        if H == H_kv:
            raise ValueError("only shared heads show this mistake")
        return gather(dheads, H_kv, (*leading, H_kv, H // H_kv, S, K))

    return formula


def _in_turn(dheads, H_kv, shape):
    *leading, H_kv, group, S, K = shape
    return dheads.reshape(*leading, group, H_kv, S, K).sum(axis=-4)


def _group_kept(**inputs):
    """Leave dk and dv with one head for each query; no way leads on from there to x."""
    kept = _grouped_only(lambda dheads, H_kv, shape: dheads)
    grads = gradients(**inputs, gather=kept, paths=())
    return {name: grads[name] for name in ("W_k", "W_v")}


def _averaged(x, drow):
    return over_tokens(x, drow) * x.shape[-1] / x.size


def _batch_kept(x, drow):
    if x.ndim < 3:
        raise ValueError("only several sequences show this mistake")
    return swap(x) @ drow


def _untransposed(dout, W_o):
    return dout @ W_o


def _turning(turn):
    return _with(turn_back=lambda part, rows, angles: turn(part, rows, angles))


OUTPUT_MISTAKES = (
    Mistake(
        "W_o_from_x",
        "Which rows does W_o multiply in the forward pass: x, or the merged heads?",
        lambda **inputs: {"W_o": gradients(**inputs, into_W_o=lambda parts: parts["x"])["W_o"]},
    ),
    Mistake(
        "merged_by_reshape",
        "Your merged heads went into W_o. Was the head axis moved before they were merged?",
        _with(into_W_o=lambda parts: merge_alone(parts["weights"] @ parts["values"])),
    ),
    Mistake(
        "shares_averaged",
        "Are the tokens' shares of a matrix's gradient added, or averaged?",
        _with(share=_averaged),
    ),
    Mistake(
        "batch_not_summed",
        "One matrix serves all sequences. What becomes of the shares of each sequence?",
        _with(share=_batch_kept),
    ),
    Mistake(
        "W_transposed",
        "A gradient has the shape of its matrix. Which factor comes first, input or gradient?",
        _with(share=lambda x, drow: over_tokens(x, drow).T),
    ),
    Mistake(
        "W_o_not_passed",
        "Where does the gradient pass through W_o on its way to the heads?",
        _with(dmerged=lambda dout, W_o: dout),
    ),
    Mistake(
        "W_o_not_transposed",
        "Rows were multiplied by W_o. With what is their gradient multiplied?",
        _with(dmerged=_untransposed),
    ),
    Mistake(
        "split_by_reshape",
        "How do you cut the gradient into heads? The same way as the rows were cut?",
        _with(cut=split_alone),
    ),
    Mistake(
        "joined_by_reshape",
        "Which axis must come next to the features before the heads' gradients are merged?",
        _with(join=merge_alone),
    ),
)
VALUE_MISTAKES = (
    Mistake(
        "dv_not_transposed",
        "Value s went to every query t that saw it. Do you sum over queries or over keys?",
        _with(dvalues=lambda weights, dmixed: weights @ dmixed),
    ),
    Mistake(
        "dv_unweighted",
        "How much of value s did query t take? That much of the gradient comes back.",
        _with(dvalues=lambda weights, dmixed: dmixed),
    ),
)
SCORE_MISTAKES = (
    Mistake(
        "scale_forgotten",
        "The scores were divided by √K. Where does your backward pass divide?",
        _with(scale=lambda H, K: 1.0),
    ),
    Mistake(
        "scale_twice",
        "How often is √K divided by on the way back through the scores?",
        _with(scale=lambda H, K: 1 / K),
    ),
    Mistake(
        "scaled_by_width",
        "Is it the width of one head whose root you divide by?",
        _with(scale=lambda H, K: (H * K) ** -0.5),
    ),
    Mistake(
        "scale_multiplied",
        "The scores were divided by √K. Do you multiply with it on the way back?",
        _with(scale=lambda H, K: K**0.5),
    ),
    Mistake(
        "softmax_skipped",
        "What lies between the weights and the scores? Does your gradient pass through it?",
        _with(through_softmax=lambda dweights, weights: dweights),
    ),
    Mistake(
        "dk_not_transposed",
        "Key s met every query. Over which axis of dscores do you sum for it?",
        _with(dkeys=lambda dscores, q, keys: dscores @ q),
    ),
    Mistake(
        "dq_from_queries",
        "What did each query meet in its scores? That is what its gradient is made of.",
        _with(dq=lambda dscores, q, keys: dscores @ q),
    ),
    Mistake(
        "dk_from_keys",
        "What did each key meet in its scores? That is what its gradient is made of.",
        _with(dkeys=lambda dscores, q, keys: swap(dscores) @ keys),
    ),
)
ROPE_MISTAKES = (
    Mistake(
        "not_turned_back",
        "W_q made the rows before they were turned. What is still to do with the gradient?",
        _turning(lambda part, rows, angles: rows),
    ),
    Mistake(
        "turned_again",
        "The gradient comes to the turn from behind. In which direction does it turn?",
        _turning(lambda part, rows, angles: turned(rows, angles)),
    ),
    Mistake(
        "only_queries_turned_back",
        "The gradient of the queries is turned back. Which other one must be?",
        _turning(lambda part, rows, angles: turned(rows, -angles) if part == "q" else rows),
    ),
    Mistake(
        "only_keys_turned_back",
        "The gradient of the keys is turned back. Which other one must be?",
        _turning(lambda part, rows, angles: turned(rows, -angles) if part == "k" else rows),
    ),
    Mistake(
        "turned_back_as_halves",
        "You turn back. Are the pairs the ones that were turned in the forward pass?",
        _turning(lambda part, rows, angles: turned(rows, -angles, read=halves)),
    ),
)
PATH_MISTAKES = (
    Mistake(
        "only_value_path",
        "x was used three times. Does `=` stand where `+=` should?",
        _with(paths=("W_v",)),
    ),
    Mistake(
        "only_query_path",
        "x made the queries. What else did it make?",
        _with(paths=("W_q",)),
    ),
    Mistake(
        "only_key_path",
        "Your dx has come through the keys alone. How many paths lead back to x?",
        _with(paths=("W_k",)),
    ),
    Mistake(
        "value_path_missing",
        "Does your dx know that x made the values?",
        _with(paths=("W_q", "W_k")),
    ),
    Mistake(
        "key_path_missing",
        "Does your dx know that x made the keys?",
        _with(paths=("W_q", "W_v")),
    ),
    Mistake(
        "query_path_missing",
        "Does your dx know that x made the queries?",
        _with(paths=("W_k", "W_v")),
    ),
    Mistake(
        "residual_added",
        "Does your dx hold dout itself? The identity path belongs to the block.",
        lambda **inputs: {"dx": gradients(**inputs)["dx"] + inputs["dout"]},
    ),
)
GROUP_MISTAKES = (
    Mistake(
        "group_averaged",
        "Several queries share a key head. Are their gradients added or averaged?",
        _with(gather=_grouped_only(lambda d, n, shape: d.reshape(shape).mean(axis=-3))),
    ),
    Mistake(
        "first_of_group",
        "Several queries share a key head. Whose gradient does it get from you?",
        _with(gather=_grouped_only(lambda d, n, shape: d.reshape(shape)[..., 0, :, :])),
    ),
    Mistake(
        "last_of_group",
        "A key head is shared: is the gradient of one query overwritten by that of the next?",
        _with(gather=_grouped_only(lambda d, n, shape: d.reshape(shape)[..., -1, :, :])),
    ),
    Mistake(
        "groups_in_turn",
        "Which queries share key head 0: neighbours, or every H_kv-th one?",
        _with(gather=_grouped_only(_in_turn)),
    ),
    Mistake(
        "group_not_summed",
        "Your gradient has a head for each query. How many heads has W_k?",
        _group_kept,
    ),
)

BACKWARD_MISTAKES = (
    *OUTPUT_MISTAKES,
    *VALUE_MISTAKES,
    *SCORE_MISTAKES,
    *(
        Mistake(f"softmax_{m.name}", m.question, _with(through_softmax=m.outputs))
        for m in SOFTMAX_BACK_MISTAKES
    ),
    *ROPE_MISTAKES,
    *PATH_MISTAKES,
    *GROUP_MISTAKES,
)
