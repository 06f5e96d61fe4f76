"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import numpy as np

from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.decoder import decoder_forward, loss_and_gradients
from transformer_block.generate import next_token_probabilities
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward

# embedding


def rows_normalised(ids, weight):
    rows = weight[ids]
    return rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True)), None


def rows_of_float64(ids, weight):
    return np.eye(len(weight))[ids] @ weight, (ids, weight)


def buffered(dout, cache):
    ids, weight = cache
    table = np.zeros_like(weight)
    table[ids] += dout
    return table


def assigned(dout, cache):
    ids, weight = cache
    table = np.zeros_like(weight)
    table[ids] = dout
    return table


def in_float64(dout, cache):
    ids, weight = cache
    table = np.zeros(weight.shape)
    np.add.at(table, ids, dout)
    return table


def on_top_of_weight(dout, cache):
    ids, weight = cache
    np.add.at(weight, ids, dout)
    return weight


def sequence_by_sequence(dout, cache):
    ids, weight = cache
    table = np.zeros_like(weight)
    for b in np.ndindex(ids.shape[:-1]):
        table[ids[b]] += dout[b]
    return table


def only_seen_rows(dout, cache):
    ids, weight = cache
    return np.array([dout[ids == token].sum(axis=0) for token in np.unique(ids)])


def mean_of_places(dout, cache):
    ids, weight = cache
    zero = np.zeros(weight.shape[1])
    return np.array(
        [dout[ids == v].mean(axis=0) if (ids == v).any() else zero for v in range(len(weight))]
    )


# logits


def softmaxed(x, weight):
    e = np.exp(x @ weight.T - (x @ weight.T).max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True), (x, weight)


def like_attention(x, weight):
    return x @ weight.T / np.sqrt(x.shape[-1]), (x, weight)


def head_with_mean(dlogits, cache):
    x, weight = cache
    flat, rows = dlogits.reshape(-1, len(weight)), x.reshape(-1, x.shape[-1])
    return dlogits @ weight, flat.T @ rows / len(rows)


def head_of_two_axes(dlogits, cache):
    x, weight = cache
    return dlogits @ weight, dlogits.T @ x


def head_per_sequence(dlogits, cache):
    x, weight = cache
    return dlogits @ weight, np.swapaxes(dlogits, -1, -2) @ x


def head_other_way(dlogits, cache):
    x, weight = cache
    flat = dlogits.reshape(-1, len(weight))
    return dlogits @ weight, x.reshape(-1, x.shape[-1]).T @ flat


def head_doubles(dlogits, cache):
    x, weight = cache
    dx = dlogits @ weight
    dx += dx
    return dx, dlogits.reshape(-1, len(weight)).T @ x.reshape(-1, x.shape[-1])


# loss and gradient


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def told(logits, targets):
    return np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]


def loss_naive(logits, ids):
    e = np.exp(logits[..., :-1, :])
    p = e / e.sum(axis=-1, keepdims=True)
    return -np.log(np.take_along_axis(p, ids[..., 1:, None], axis=-1)).mean()


def soft_less_the_mean(logits):
    e = np.exp(logits - logits.mean(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def loss_less_the_mean(logits, ids):
    p = soft_less_the_mean(logits[..., :-1, :])
    return -np.log(np.take_along_axis(p, ids[..., 1:, None], axis=-1)).mean()


def loss_clipped(logits, ids):
    p = np.exp(told(logits[..., :-1, :], ids[..., 1:]))
    return -np.log(np.clip(p, 1e-12, 1)).mean()


def loss_of_mean_row(logits, ids):
    return -told(logits[..., :-1, :].mean(axis=-2, keepdims=True), ids[..., 1:2]).mean()


def p_of(logits):
    return np.exp(log_softmax(logits))


def rows_of(logits, ids):
    hot = np.eye(logits.shape[-1])[ids[..., 1:]]
    return p_of(logits[..., :-1, :]), hot


def padded(rows):
    return np.concatenate([rows, np.zeros_like(rows[..., :1, :])], axis=-2)


def gradient_short(logits, ids):
    p, hot = rows_of(logits, ids)
    return (p - hot) / ids[..., 1:].size


def gradient_undivided(logits, ids):
    p, hot = rows_of(logits, ids)
    return padded(p - hot)


def gradient_by_T(logits, ids):
    p, hot = rows_of(logits, ids)
    return padded(p - hot) / ids.size


def gradient_no_shift(logits, ids):
    return (p_of(logits) - np.eye(logits.shape[-1])[ids]) / ids.size


def gradient_upside_down(logits, ids):
    p, hot = rows_of(logits, ids)
    return padded(hot - p) / ids[..., 1:].size


def gradient_by_differences(logits, ids):
    out = np.zeros(logits.shape)
    for i in np.ndindex(logits.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = logits.copy()
            moved[i] += step
            ends.append(-told(moved[..., :-1, :], ids[..., 1:]).mean())
        out[i] = (ends[0] - ends[1]) / 2e-5
    return out


def gradient_in_place(logits, ids):
    logits[...] = gradient_of(logits, ids)
    return logits


def gradient_less_the_mean(logits, ids):
    hot = np.eye(logits.shape[-1])[ids[..., 1:]]
    return padded(soft_less_the_mean(logits[..., :-1, :]) - hot) / ids[..., 1:].size


def gradient_of(logits, ids):
    p, hot = rows_of(logits, ids)
    return padded(p - hot) / ids[..., 1:].size


# stack


def untied(ids, params, n_heads):
    both = {**params, "head": params["embedding"]}
    loss, grads = loss_and_gradients(ids[..., :-1], ids[..., 1:], both, n_heads)
    return loss, grads, grads.pop("head")


def from_below(ids, params, n_heads):
    loss, grads, _ = untied(ids, params, n_heads)
    return loss, grads


def from_above(ids, params, n_heads):
    loss, grads, top = untied(ids, params, n_heads)
    return loss, {**grads, "embedding": top}


def mean_of_both(ids, params, n_heads):
    loss, grads, top = untied(ids, params, n_heads)
    return loss, {**grads, "embedding": (grads["embedding"] + top) / 2}


def only_rows_of_the_text(ids, params, n_heads):
    loss, grads, top = untied(ids, params, n_heads)
    dE = np.zeros_like(top)
    seen = np.unique(ids[..., :-1])
    dE[seen] = grads["embedding"][seen] + top[seen]
    return loss, {**grads, "embedding": dE}


def blocks_turned(ids, params, n_heads):
    loss, grads, top = untied(ids, params, n_heads)
    both = grads["embedding"] + top
    return loss, {**grads, "embedding": both, "blocks": grads["blocks"][::-1]}


def no_shift(ids, params, n_heads):
    return loss_and_gradients(ids, ids, params, n_heads)


def writes_into_E(ids, params, n_heads):
    loss, grads = loss_and_gradients(ids[..., :-1], ids[..., 1:], params, n_heads)
    params["embedding"] += grads["embedding"]
    return loss, grads


def blocks_as_one_dict(ids, params, n_heads):
    loss, grads = loss_and_gradients(ids[..., :-1], ids[..., 1:], params, n_heads)
    return loss, {**grads, "blocks": grads["blocks"][0]}


# training


def moved(params, grads, by):
    blocks = [
        {name: p[name] + by * g[name] for name in p}
        for p, g in zip(params["blocks"], grads["blocks"], strict=True)
    ]
    ends = {name: params[name] + by * grads[name] for name in ("embedding", "final_norm")}
    return {**ends, "blocks": blocks}


def trained(gradients, sign=-1.0, keep=()):
    def losses_of(ids, params, n_heads, rate, n_steps):
        losses = []
        for _ in range(n_steps + 1):
            loss, grads = gradients(ids, params, n_heads)
            losses.append(loss)
            old, params = params, moved(params, grads, sign * rate)
            params = {**params, **{name: old[name] for name in keep}}
        return losses

    return losses_of


def right_gradients(ids, params, n_heads):
    return loss_and_gradients(ids[..., :-1], ids[..., 1:], params, n_heads)


def no_first_loss(ids, params, n_heads, rate, n_steps):
    return trained(right_gradients)(ids, params, n_heads, rate, n_steps + 1)[1:]


def no_last_loss(ids, params, n_heads, rate, n_steps):
    return trained(right_gradients)(ids, params, n_heads, rate, n_steps)[:-1]


def in_place(ids, params, n_heads, rate, n_steps):
    losses = []
    for _ in range(n_steps + 1):
        loss, grads = right_gradients(ids, params, n_heads)
        losses.append(loss)
        params["embedding"] -= rate * grads["embedding"]
        params["final_norm"] -= rate * grads["final_norm"]
        for block, dblock in zip(params["blocks"], grads["blocks"], strict=True):
            for name in block:
                block[name] -= rate * dblock[name]
    return losses


def with_decay(ids, params, n_heads, rate, n_steps):
    def decayed(ids, params, n_heads):
        loss, grads = right_gradients(ids, params, n_heads)
        return loss, {**grads, "embedding": grads["embedding"] + params["embedding"]}

    return trained(decayed)(ids, params, n_heads, rate, n_steps)


# probabilities


def of_row(function):
    def for_all(logits, temperature=1.0, top_k=None, top_p=1.0):
        rows = logits.reshape(-1, logits.shape[-1])
        made = [function(row, temperature, top_k or row.size, top_p) for row in rows]
        return np.reshape(made, logits.shape)

    return for_all


def soft(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def nucleus(p, top_p, extra=0):
    order = np.argsort(-p)
    n = int(np.sum(np.cumsum(p[order]) < top_p)) + 1 + extra
    kept = np.zeros_like(p)
    kept[order[:n]] = p[order[:n]]
    return kept / kept.sum()


def top(p, k):
    kept = np.where(p >= np.sort(p)[-min(k, p.size)], p, 0)
    return kept / kept.sum()


@of_row
def hot_and_cold_mixed_up(z, temperature, k, top_p):
    return nucleus(top(soft(z * temperature), k), top_p)


@of_row
def no_temperature(z, temperature, k, top_p):
    return nucleus(top(soft(z), k), top_p)


@of_row
def k_plus_one(z, temperature, k, top_p):
    return nucleus(top(soft(z / temperature), k + 1), top_p)


@of_row
def without_crossing(z, temperature, k, top_p):
    p = top(soft(z / temperature), k)
    order = np.argsort(-p)
    n = int(np.sum(np.cumsum(p[order]) <= top_p)) if top_p < 1 else p.size
    kept = np.zeros_like(p)
    kept[order[:n]] = p[order[:n]]
    return kept / kept.sum()


@of_row
def one_after(z, temperature, k, top_p):
    return nucleus(top(soft(z / temperature), k), top_p, 1)


@of_row
def p_first(z, temperature, k, top_p):
    return top(nucleus(soft(z / temperature), top_p), k)


@of_row
def zeros_for_infinity(z, temperature, k, top_p):
    stays = nucleus(top(soft(z / temperature), k), top_p) > 0
    return soft(stays * (z / temperature))


@of_row
def heated_last(z, temperature, k, top_p):
    kept = nucleus(top(soft(z), k), top_p) > 0
    p = soft(z / temperature) * kept
    return p / p.sum()


@of_row
def leaves_a_gap(z, temperature, k, top_p):
    p = soft(z / temperature)
    return p * (nucleus(top(p, k), top_p) > 0)


@of_row
def overflowing(z, temperature, k, top_p):
    e = np.exp(z / temperature)
    return nucleus(top(e / e.sum(), k), top_p)


def picks_rows_together(logits, temperature=1.0, top_k=None, top_p=1.0):
    return nucleus(top(soft(logits.ravel() / temperature), top_k or logits.size), top_p).reshape(
        logits.shape
    )


# generation


def writer(pick, at=-1, see=lambda text, n: text, greedy=np.argmax):
    def write(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
        text = list(ids)
        for _ in range(n_new):
            z = decoder_forward(np.array(see(text, len(ids))), params, n_heads)[0][at]
            choice = (temperature, top_k, top_p)
            text.append(int(pick(z, rng, *choice) if temperature else greedy(z)))
        return text

    return write


def drawn(z, rng, *choice):
    p = next_token_probabilities(z, *choice)
    return rng.choice(len(p), p=p)


def from_global(z, rng, *choice):
    p = next_token_probabilities(z, *choice)
    return np.random.choice(len(p), p=p)  # noqa: NPY002


FIXED = 7


def fixed_seed(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    own = np.random.default_rng(FIXED)
    return writer(drawn)(ids, params, n_heads, n_new, own, temperature, top_k, top_p)


def uniformly(z, rng, *choice):
    return rng.choice(len(z))


def no_filter(z, rng, temperature, top_k, top_p):
    return drawn(z, rng, temperature, None, 1.0)


def by_logits(z, rng, *choice):
    positive = np.clip(z, 0, None)
    return rng.choice(len(z), p=positive / positive.sum())


def by_rank(z, rng, *choice):
    p = next_token_probabilities(z, *choice)
    order = np.argsort(-p, kind="stable")
    return order[np.argmax(np.cumsum(p[order]) > rng.random())]


def too_hot(z, rng, temperature, top_k, top_p):
    return drawn(z, rng, 1 / temperature, top_k, top_p)


def new_tokens_only(ids, params, n_heads, n_new, *choice):
    return writer(drawn)(ids, params, n_heads, n_new, *choice)[len(ids) :]


def appends_to_ids(ids, params, n_heads, n_new, *choice):
    text = writer(drawn)(ids, params, n_heads, n_new, *choice)
    ids[:] = text[-len(ids) :]
    return text


def place_by_place(dout, cache):
    ids, weight = cache
    table = np.zeros_like(weight)
    for t in range(ids.shape[-1]):
        table[ids[..., t]] += dout[..., t, :]
    return table


def loss_end_to_end(logits, ids):
    rows, targets = logits.reshape(-1, logits.shape[-1])[:-1], ids.reshape(-1)[1:]
    rows = rows - rows.max(axis=-1, keepdims=True)
    return float(np.mean(np.log(np.exp(rows).sum(axis=-1)) - rows[np.arange(len(rows)), targets]))


def loss_indexed_by_all(logits, ids):
    rows = logits[..., :-1, :] - logits[..., :-1, :].max(axis=-1, keepdims=True)
    log_p = rows - np.log(np.exp(rows).sum(axis=-1, keepdims=True))
    return float(-log_p[..., ids[..., 1:]].mean())


def gradient_end_to_end(logits, ids):
    V = logits.shape[-1]
    p = np.exp(logits - logits.max(axis=-1, keepdims=True)).reshape(-1, V)
    p /= p.sum(axis=-1, keepdims=True)
    p[np.arange(ids.size - 1), ids.reshape(-1)[1:]] -= 1
    p[-1] = 0
    return p.reshape(logits.shape) / (ids.size - 1)


def whole_with(ids, params, n_heads, up=0.0, down=0.0):
    E, caches = params["embedding"], []
    x = E[ids]
    for block in params["blocks"]:
        out, cache = transformer_block_forward(x, block, n_heads)
        x = up * x + out
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    loss, ce = cross_entropy_forward(out[..., :-1, :] @ E.T, ids[..., 1:])
    dlogits = np.zeros((*ids.shape, len(E)))
    dlogits[..., :-1, :] = cross_entropy_backward(1.0, ce)
    dE = dlogits.reshape(-1, len(E)).T @ out.reshape(-1, E.shape[1])
    dx, dnorm = rmsnorm_backward(dlogits @ E, norm)
    dblocks = []
    for cache in caches[::-1]:
        back, dblock = transformer_block_backward(dx, cache)
        dx = down * dx + back
        dblocks.insert(0, dblock)
    np.add.at(dE, ids, dx)
    return loss, {"embedding": dE, "blocks": dblocks, "final_norm": dnorm}


def block_added_to_its_input(ids, params, n_heads):
    return whole_with(ids, params, n_heads, up=1.0)


def straight_way_counted_twice(ids, params, n_heads):
    return whole_with(ids, params, n_heads, down=1.0)


WRONG = {
    "embedding_forward": [
        (lambda ids, weight: (weight[ids - 1], None), "one_too_low"),
        (lambda ids, weight: (weight[ids] * weight.shape[1] ** 0.5, None), "root_of_d"),
        (rows_normalised, "normalised"),
        (rows_of_float64, "dtype_leaks"),
        (lambda ids, weight: (weight[np.arange(ids.shape[-1])], None), None),
        (lambda ids, weight: (weight[:, ids], None), None),
        (lambda ids, weight: weight[ids], None),
        (lambda ids, weight: (0 * weight[ids], None), None),
    ],
    "embedding_backward": [
        (buffered, "last_only"),
        (assigned, "last_only"),
        (in_float64, "dtype_leaks"),
        (on_top_of_weight, "starts_from_weight"),
        (mean_of_places, "averaged"),
        (sequence_by_sequence, None),
        (only_seen_rows, None),
        (lambda dout, cache: dout, None),
        (lambda dout, cache: np.zeros_like(cache[1]), None),
        (place_by_place, "places_overwrite"),
    ],
    "logits_forward": [
        (softmaxed, "probabilities"),
        (like_attention, "scaled"),
        (lambda x, weight: (x[..., -1, :] @ weight.T, None), "last_position"),
        (lambda x, weight: (x.astype(float) @ weight.T, None), "dtype_leaks"),
        (lambda x, weight: (x @ weight, None), None),
        (lambda x, weight: (np.zeros((*x.shape[:-1], len(weight))), None), None),
    ],
    "logits_backward": [
        (head_with_mean, "dweight_mean"),
        (head_per_sequence, "dweight_not_summed"),
        (head_other_way, "dweight_transposed"),
        (head_of_two_axes, None),
        (head_doubles, None),
        (lambda dlogits, cache: head_with_mean(dlogits, cache)[::-1], None),
        (lambda dlogits, cache: dlogits @ cache[1], None),
    ],
    "next_token_loss": [
        (lambda logits, ids: -told(logits, ids).mean(), "not_shifted"),
        (lambda logits, ids: -told(logits[..., :-2, :], ids[..., 2:]).mean(), "shifted_twice"),
        (lambda logits, ids: -told(logits[..., 1:, :], ids[..., :-1]).mean(), "shifted_back"),
        (lambda logits, ids: -told(logits, np.roll(ids, -1, -1)).mean(), "round_the_end"),
        (lambda logits, ids: -told(logits[..., :-1, :], ids[..., 1:]).sum(), "summed"),
        (
            lambda logits, ids: -told(logits[..., :-1, :], ids[..., 1:]).sum() / ids.size,
            "divided_by_T",
        ),
        (
            lambda logits, ids: -told(logits[..., :-1, :], ids[..., 1:]).mean() / np.log(2),
            "bits",
        ),
        (lambda logits, ids: told(logits[..., :-1, :], ids[..., 1:]).mean(), "sign"),
        (loss_less_the_mean, "mean_taken_away"),
        (loss_naive, "overflows"),
        (loss_clipped, None),
        (loss_of_mean_row, None),
        (lambda logits, ids: -told(logits[..., :-1, :], ids[..., 1:]), None),
        (lambda logits, ids: np.log(logits.shape[-1]), None),
        (loss_end_to_end, "across_texts"),
        (loss_indexed_by_all, "every_target_everywhere"),
    ],
    "next_token_gradient": [
        (gradient_short, None),
        (gradient_undivided, "not_divided"),
        (gradient_by_T, "divided_by_T"),
        (gradient_no_shift, "not_shifted"),
        (gradient_upside_down, "sign"),
        (gradient_by_differences, None),
        (gradient_in_place, "writes_into_arguments"),
        (gradient_less_the_mean, "mean_taken_away"),
        (lambda logits, ids: p_of(logits) / ids[..., 1:].size, None),
        (lambda logits, ids: 0 * logits, None),
        (gradient_end_to_end, "across_texts"),
    ],
    "tied_loss_and_gradients": [
        (from_below, "bottom_only"),
        (from_above, "top_only"),
        (mean_of_both, "averaged"),
        (only_rows_of_the_text, "absent_rows_zero"),
        (blocks_turned, "gradients_upside_down"),
        (no_shift, "not_shifted"),
        (writes_into_E, "writes_into_arguments"),
        (blocks_as_one_dict, None),
        (lambda ids, params, n_heads: (0.0, params), None),
        (block_added_to_its_input, "residual_again"),
        (straight_way_counted_twice, "straight_way_again"),
    ],
    "training_losses": [
        (trained(right_gradients, 1.0), "ascent"),
        (trained(right_gradients, 0.0), "no_step"),
        (trained(from_below), "bottom_only"),
        (trained(from_above), "top_only"),
        (trained(mean_of_both), "averaged"),
        (trained(right_gradients, keep=("embedding",)), "embedding_fixed"),
        (trained(right_gradients, keep=("blocks",)), "blocks_fixed"),
        (no_first_loss, "first_loss_missing"),
        (no_last_loss, None),
        (in_place, "writes_into_arguments"),
        (with_decay, None),
        (lambda *given: np.linspace(3, 1, given[-1] + 1), None),
    ],
    "next_token_probabilities": [
        (hot_and_cold_mixed_up, "multiplied"),
        (no_temperature, "temperature_ignored"),
        (k_plus_one, "one_too_many"),
        (without_crossing, "crossing_left_out"),
        (one_after, "one_after_crossing"),
        (p_first, "p_of_all"),
        (zeros_for_infinity, "zero_logits"),
        (heated_last, "temperature_last"),
        (leaves_a_gap, "not_renormalised"),
        (overflowing, "overflows"),
        (picks_rows_together, None),
        (lambda logits, *settings: logits, None),
    ],
    "continue_ids": [
        (writer(drawn, at=0), "first_position"),
        (writer(drawn, at=-2), "position_before"),
        (writer(drawn, see=lambda text, n: text[:n]), "prefix_fixed"),
        (writer(drawn, see=lambda text, n: text[-1:]), "last_token_alone"),
        (writer(drawn, greedy=np.argmin), "least_likely"),
        (writer(lambda z, *rest: z.argmax()), "always_greedy"),
        (writer(from_global), "rng_ignored"),
        (fixed_seed, "rng_ignored"),
        (writer(uniformly), None),
        (writer(no_filter), "nothing_cut"),
        (writer(by_logits), "from_logits"),
        (writer(by_rank), "added_up_by_rank"),
        (writer(too_hot), "temperature_multiplied"),
        (new_tokens_only, "prefix_missing"),
        (appends_to_ids, "writes_into_arguments"),
    ],
}
