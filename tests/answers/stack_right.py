"""Right answers that look different: every one of them must pass every claim."""

import functools
import math

import numpy as np

from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.decoder import decoder_backward, decoder_forward, loss_and_gradients
from transformer_block.generate import decoder_step, generate
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward

# embedding_forward


def rows_by_index(ids, weight):
    return weight[ids], (ids, weight)


def rows_by_take(ids, weight):
    return np.take(weight, ids, axis=0), {"ids": ids, "shape": weight.shape}


def rows_by_one_hot(ids, weight):
    hot = (ids[..., None] == np.arange(len(weight))).astype(weight.dtype)
    return hot @ weight, hot


def rows_in_a_loop(ids, weight):
    out = np.empty((*ids.shape, weight.shape[1]), weight.dtype)
    for place in np.ndindex(ids.shape):
        out[place] = weight[ids[place]]
    return out, (ids, weight)


def rows_flat(ids, weight):
    print("looking up", ids.size)
    return weight[ids.ravel()].reshape(*ids.shape, -1), [ids, weight]


def rows_by_columns(ids, weight):
    return np.stack([column[ids] for column in weight.T], axis=-1), None


# embedding_backward


def table_by_add_at(dout, cache):
    ids, weight = cache
    table = np.zeros_like(weight)
    np.add.at(table, ids, dout)
    return table


def table_in_a_loop(dout, cache):
    ids, weight = cache
    table = np.zeros(weight.shape, weight.dtype)
    for place in np.ndindex(ids.shape):
        table[ids[place]] += dout[place]
    return table


def table_by_one_hot(dout, cache):
    ids, weight = cache
    hot = np.eye(len(weight), dtype=weight.dtype)[ids.reshape(-1)]
    return hot.T @ dout.reshape(-1, weight.shape[1])


def table_by_bincount(dout, cache):
    ids, weight = cache
    columns = dout.reshape(-1, weight.shape[1]).T
    summed = [np.bincount(ids.ravel(), column, len(weight)) for column in columns]
    return np.array(summed).T.astype(weight.dtype)


def table_by_masks(dout, cache):
    ids, weight = cache
    return np.stack([dout[ids == token].sum(axis=0) for token in range(len(weight))])


def table_by_sorting(dout, cache):
    ids, weight = cache
    flat, grads = ids.ravel(), dout.reshape(-1, weight.shape[1])
    order = np.argsort(flat, kind="stable")
    starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
    table = np.zeros_like(weight)
    table[flat[order][starts]] = np.add.reduceat(grads[order], starts, axis=0)
    return table


# logits_forward


def logits_by_product(x, weight):
    return x @ weight.T, (x, weight)


def logits_by_einsum(x, weight):
    return np.einsum("...d,vd->...v", x, weight), {"x": x, "weight": weight}


def logits_by_inner(x, weight):
    return np.inner(x, weight), [x, weight]


def logits_token_by_token(x, weight):
    return np.stack([np.sum(x * row, axis=-1) for row in weight], axis=-1), (x, weight, len(weight))


def logits_flat(x, weight):
    flat = np.dot(weight, x.reshape(-1, x.shape[-1]).T).T
    return flat.reshape(*x.shape[:-1], -1), (x, weight)


def logits_in_a_loop(x, weight):
    out = np.zeros((*x.shape[:-1], len(weight)), x.dtype)
    for place in np.ndindex(x.shape[:-1]):
        out[place] = weight @ x[place]
    return out, None


# logits_backward


def head_by_listing(dlogits, cache):
    x, weight = cache
    flat = dlogits.reshape(-1, len(weight))
    return dlogits @ weight, flat.T @ x.reshape(-1, x.shape[-1])


def head_by_einsum(dlogits, cache):
    x, weight = cache
    dx = np.einsum("...v,vd->...d", dlogits, weight)
    flat, rows = dlogits.reshape(-1, len(weight)), x.reshape(-1, x.shape[-1])
    return dx, np.einsum("tv,td->vd", flat, rows)


def head_by_loops(dlogits, cache):
    x, weight = cache
    dx, dweight = np.zeros_like(x), np.zeros_like(weight)
    for place in np.ndindex(x.shape[:-1]):
        dx[place] = dlogits[place] @ weight
        dweight += np.outer(dlogits[place], x[place])
    return dx, dweight


def head_by_tensordot(dlogits, cache):
    x, weight = cache
    axes = list(range(x.ndim - 1))
    return [np.tensordot(dlogits, weight, axes=1), np.tensordot(dlogits, x, axes=(axes, axes))]


def head_by_tokens(dlogits, cache):
    x, weight = cache
    dx = sum(dlogits[..., v, None] * weight[v] for v in range(len(weight)))
    positions = tuple(range(x.ndim - 1))
    rows = [np.sum(share[..., None] * x, axis=positions) for share in np.moveaxis(dlogits, -1, 0)]
    return dx, np.array(rows)


def head_by_batches(dlogits, cache):
    x, weight = cache
    shares = np.swapaxes(dlogits, -1, -2) @ x
    return dlogits @ weight, shares.reshape(-1, *weight.shape).sum(axis=0)


# next_token_loss


def loss_by_log_sum_exp(logits, ids):
    z, targets = logits[..., :-1, :], ids[..., 1:]
    top = z.max(axis=-1)
    total = top + np.log(np.exp(z - top[..., None]).sum(axis=-1))
    return np.mean(total - np.take_along_axis(z, targets[..., None], -1)[..., 0])


def loss_by_logaddexp(logits, ids):
    z = logits[..., :-1, :]
    hot = np.eye(z.shape[-1])[ids[..., 1:]]
    return float(np.mean(np.logaddexp.reduce(z, axis=-1) - np.sum(hot * z, axis=-1)))


def loss_in_a_loop(logits, ids):
    losses, texts = [], ids.reshape(-1, ids.shape[-1])
    for text, rows in zip(texts, logits.reshape(-1, *logits.shape[-2:]), strict=True):
        for t in range(len(text) - 1):
            row = [float(z) for z in rows[t]]
            top = max(row)
            losses.append(top + math.log(sum(math.exp(z - top) for z in row)) - row[text[t + 1]])
    return sum(losses) / len(losses)


def loss_of_margins(logits, ids):
    z, targets = logits[..., :-1, :], ids[..., 1:, None]
    margins = z - np.take_along_axis(z, targets, axis=-1)
    return np.logaddexp.reduce(margins, axis=-1).mean()


def loss_as_weighted_sum(logits, ids):
    z = logits - logits.max(-1, keepdims=True)
    logs = z - np.log(np.exp(z).sum(-1, keepdims=True))
    counts = np.zeros(ids.shape)
    counts[..., :-1] = 1
    told = np.take_along_axis(logs, np.roll(ids, -1, -1)[..., None], -1)[..., 0]
    return [-(told * counts).sum() / counts.sum()]


def loss_by_library(logits, ids):
    print("pairs:", ids[..., 1:].size)
    return np.float64(cross_entropy_forward(logits[..., :-1, :], ids[..., 1:])[0])


# next_token_gradient


def gradient_by_one_hot(logits, ids):
    z, targets = logits[..., :-1, :], ids[..., 1:]
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    rows = (e / e.sum(axis=-1, keepdims=True) - np.eye(z.shape[-1])[targets]) / targets.size
    return np.concatenate([rows, np.zeros_like(logits[..., -1:, :])], axis=-2)


def gradient_by_put(logits, ids):
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=-1)[..., None])
    kept = p[..., :-1, :]
    at = ids[..., 1:, None]
    np.put_along_axis(kept, at, np.take_along_axis(kept, at, -1) - 1, -1)
    p[..., -1, :] = 0
    return p / at.size


def gradient_in_a_loop(logits, ids):
    out = np.zeros(logits.shape)
    texts, rows = ids.reshape(-1, ids.shape[-1]), logits.reshape(-1, *logits.shape[-2:])
    flat = out.reshape(rows.shape)
    for b, text in enumerate(texts):
        for t in range(len(text) - 1):
            e = np.exp(rows[b, t] - rows[b, t].max())
            flat[b, t] = e / e.sum()
            flat[b, t, text[t + 1]] -= 1
    return flat.reshape(logits.shape) / (len(texts) * (ids.shape[-1] - 1))


def gradient_by_weights(logits, ids):
    weights = np.ones(ids.shape)
    weights[..., -1] = 0
    _, cache = cross_entropy_forward(logits, np.roll(ids, -1, axis=-1), weights)
    return cross_entropy_backward(1.0, cache)


def gradient_as_list(logits, ids):
    return gradient_by_one_hot(logits, ids).tolist()


def gradient_through_softmax(logits, ids):
    z, targets = logits[..., :-1, :], ids[..., 1:, None]
    log_p = z - np.logaddexp.reduce(z, axis=-1)[..., None]
    dlog_p = np.where(targets == np.arange(z.shape[-1]), -1 / targets.size, 0.0)
    out = np.zeros_like(logits)
    out[..., :-1, :] = dlog_p - np.exp(log_p) * dlog_p.sum(axis=-1, keepdims=True)
    return out


# tied_loss_and_gradients


def stack_by_library(ids, params, n_heads):
    return loss_and_gradients(ids[..., :-1], ids[..., 1:], params, n_heads)


def stack_on_all_positions(ids, params, n_heads):
    logits, cache = decoder_forward(ids, params, n_heads)
    return loss_by_library(logits, ids), decoder_backward(gradient_by_one_hot(logits, ids), cache)


def stack_by_hand(ids, params, n_heads):
    E = params["embedding"]
    x, caches = E[ids], []
    for block in params["blocks"]:
        x, cache = transformer_block_forward(x, block, n_heads)
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    logits = out @ E.T
    dlogits = gradient_by_put(logits, ids)
    dE = np.tensordot(dlogits, out, axes=[range(ids.ndim)] * 2)
    dx, dnorm = rmsnorm_backward(dlogits @ E, norm)
    dblocks = [None] * len(caches)
    for number in reversed(range(len(caches))):
        dx, dblocks[number] = transformer_block_backward(dx, caches[number])
    np.add.at(dE, ids, dx)
    loss = loss_by_log_sum_exp(logits, ids)
    return loss, {"embedding": dE, "blocks": dblocks, "final_norm": dnorm}


def stack_with_tuples(ids, params, n_heads):
    loss, grads = stack_by_hand(ids, params, n_heads)
    return [np.array(loss), {**grads, "blocks": tuple(grads["blocks"]), "extra": None}]


def stack_untied_then_added(ids, params, n_heads):
    untied = {**params, "head": params["embedding"].copy()}
    loss, grads = loss_and_gradients(ids[..., :-1], ids[..., 1:], untied, n_heads)
    return loss, {**grads, "embedding": grads["embedding"] + grads.pop("head")}


def stack_text_by_text(ids, params, n_heads):
    """Average over the texts, which all have the same length."""
    texts = ids.reshape(-1, ids.shape[-1])
    results = [loss_and_gradients(t[:-1], t[1:], params, n_heads) for t in texts]
    losses, trees = zip(*results, strict=True)
    n = len(texts)
    blocks = [
        {name: sum(tree["blocks"][i][name] for tree in trees) / n for name in block}
        for i, block in enumerate(params["blocks"])
    ]
    rest = {name: sum(tree[name] for tree in trees) / n for name in ("embedding", "final_norm")}
    return sum(losses) / n, {"blocks": blocks, **rest}


# training_losses


def stepped(params, grads, rate):
    def moved(p, g):
        return {name: p[name] - rate * g[name] for name in p}

    ends = moved(
        {name: params[name] for name in ("embedding", "final_norm")},
        {name: grads[name] for name in ("embedding", "final_norm")},
    )
    pairs = zip(params["blocks"], grads["blocks"], strict=True)
    return {**ends, "blocks": [moved(p, g) for p, g in pairs]}


def training_in_a_loop(ids, params, n_heads, rate, n_steps):
    losses = []
    for step in range(n_steps + 1):
        loss, grads = stack_by_hand(ids, params, n_heads)
        losses.append(loss)
        if step < n_steps:
            params = stepped(params, grads, rate)
    return losses


def training_as_array(ids, params, n_heads, rate, n_steps):
    losses = np.empty(n_steps + 1)
    for step in range(n_steps + 1):
        losses[step], grads = stack_by_library(ids, params, n_heads)
        params = stepped(params, grads, rate)
    return losses


def training_loss_at_the_end(ids, params, n_heads, rate, n_steps):
    losses = [stack_by_library(ids, params, n_heads)[0]]
    while len(losses) <= n_steps:
        params = stepped(params, stack_by_library(ids, params, n_heads)[1], rate)
        losses.append(loss_by_logaddexp(decoder_forward(ids, params, n_heads)[0], ids))
    return np.array(losses)


def training_on_a_copy(ids, params, n_heads, rate, n_steps):
    mine = {name: np.array(params[name]) for name in ("embedding", "final_norm")}
    mine["blocks"] = [{k: v.copy() for k, v in block.items()} for block in params["blocks"]]
    losses = []
    for _ in range(n_steps):
        loss, grads = stack_untied_then_added(ids, mine, n_heads)
        losses.append(loss)
        mine["embedding"] -= rate * grads["embedding"]
        mine["final_norm"] -= rate * grads["final_norm"]
        for block, dblock in zip(mine["blocks"], grads["blocks"], strict=True):
            for name in block:
                block[name] -= rate * dblock[name]
        print(f"loss {loss:.3f}")
    return (*losses, stack_by_library(ids, mine, n_heads)[0])


def training_by_recursion(ids, params, n_heads, rate, n_steps):
    loss, grads = stack_text_by_text(ids, params, n_heads)
    if n_steps == 0:
        return [loss]
    params = stepped(params, grads, rate)
    return [loss, *training_by_recursion(ids, params, n_heads, rate, n_steps - 1)]


def training_by_any_tree(ids, params, n_heads, rate, n_steps):
    def down(p, g):
        if isinstance(p, dict):
            return {name: down(p[name], g[name]) for name in p}
        if isinstance(p, list):
            return [down(*both) for both in zip(p, g, strict=True)]
        return p - rate * g

    losses = []
    for _ in range(n_steps + 1):
        loss, grads = stack_on_all_positions(ids, params, n_heads)
        losses += [loss]
        params = down(params, grads)
    return np.array([losses]).ravel()


# next_token_probabilities


def softmax_row(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def each_row(function):
    @functools.wraps(function)
    def for_all(logits, temperature=1.0, top_k=None, top_p=1.0):
        rows = logits.reshape(-1, logits.shape[-1])
        made = [function(row, temperature, top_k, top_p) for row in rows]
        return np.array(made).reshape(logits.shape)

    return for_all


@each_row
def cut_by_minus_infinity(z, temperature, top_k, top_p):
    z = z / temperature
    if top_k is not None:
        z = np.where(z < np.sort(z)[-min(top_k, len(z))], -np.inf, z)
    order = np.argsort(-z)
    likelier = np.cumsum(softmax_row(z)[order]) - softmax_row(z)[order]
    z[order[likelier >= top_p]] = -np.inf
    return softmax_row(z)


@each_row
def cut_one_by_one(z, temperature, top_k, top_p):
    p = softmax_row(z / temperature)
    best = sorted(range(len(p)), key=lambda i: -p[i])[: top_k or len(p)]
    left = sum(p[i] for i in best)
    kept, total = [], 0.0
    for i in best:
        kept.append(i)
        total += p[i] / left
        if total >= top_p:
            break
    out = [0.0] * len(p)
    for i in kept:
        out[i] = p[i] / sum(p[j] for j in kept)
    return out


@each_row
def cut_with_a_threshold(z, temperature, top_k, top_p):
    p = softmax_row(z / temperature)
    down = np.sort(p)[::-1][:top_k]
    enough = np.searchsorted(np.cumsum(down / down.sum()), top_p * (1 - 1e-12))
    p = np.where(p >= down[min(enough, len(down) - 1)], p, 0)
    return p / p.sum()


@each_row
def cut_by_pairs(z, temperature, top_k, top_p):
    p = softmax_row(z / temperature)
    rank = np.sum(p[None, :] > p[:, None], axis=1)
    p = np.where(rank < (top_k or len(p)), p, 0.0)
    p /= p.sum()
    likelier = np.where(p[None, :] > p[:, None], p[None, :], 0).sum(axis=1)
    p = np.where(likelier < top_p, p, 0.0)
    return p / p.sum()


def cut_along_the_axis(logits, temperature=1.0, top_k=None, top_p=1.0):
    z = (logits - logits.max(-1, keepdims=True)) / temperature
    order = np.argsort(z, axis=-1)[..., ::-1]
    p = np.exp(np.take_along_axis(z, order, -1))
    if top_k:
        p[..., top_k:] = 0
    p = p / p.sum(-1, keepdims=True)
    before = np.cumsum(p, -1) - p
    p = p * (before < top_p)
    return np.take_along_axis(p / p.sum(-1, keepdims=True), np.argsort(order, axis=-1), -1)


@each_row
def cut_with_partition(z, temperature, top_k, top_p):
    k = min(top_k or len(z), len(z))
    stay = np.argpartition(-z, k - 1)[:k]
    stay = stay[np.argsort(-z[stay])]
    p = softmax_row(z[stay] / temperature)
    n = 1
    while p[:n].sum() < top_p * (1 - 1e-12) and n < k:
        n += 1
    out = np.zeros(len(z))
    out[stay[:n]] = softmax_row(z[stay[:n]] / temperature)
    return out


# continue_ids


def text_by_library(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    choice = {"rng": rng, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    return generate(ids, params, n_heads, n_new, **choice)


def text_by_choice(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    for _ in range(n_new):
        logits = decoder_forward(ids, params, n_heads)[0][-1]
        if temperature == 0:
            token = np.argmax(logits)
        else:
            p = cut_by_minus_infinity(logits, temperature, top_k, top_p)
            token = rng.choice(len(p), p=p)
        ids = np.append(ids, token)
    return ids


def text_by_cumsum(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    text = list(ids)
    while len(text) < len(ids) + n_new:
        logits, _ = decoder_forward(np.array(text), params, n_heads)
        if temperature > 0:
            p = cut_one_by_one(logits[-1], temperature, top_k, top_p)
            text.append(int(np.argmax(np.cumsum(p) > rng.random())))
        else:
            text.append(int(logits[-1].argmax()))
    return text


def text_in_a_loop(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    text = tuple(int(i) for i in ids)
    for _ in range(n_new):
        row = decoder_forward(np.array([text]), params, n_heads)[0][0, -1]
        token = max(range(len(row)), key=lambda i: row[i])
        if temperature:
            mark, token = rng.uniform(), -1
            for share in cut_by_pairs(row, temperature, top_k, top_p):
                token += 1
                mark -= share
                if mark < 0:
                    break
        text += (token,)
    return np.array(text)


def text_with_cache(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    out, past, new = np.empty(len(ids) + n_new, dtype=int), None, ids
    out[: len(ids)] = ids
    for at in range(len(ids), len(out)):
        logits, past = decoder_step(new, params, n_heads, past)
        if temperature == 0:
            out[at] = np.argmax(logits)
        else:
            p = cut_along_the_axis(logits, temperature, top_k, top_p)
            out[at] = np.searchsorted(np.cumsum(p), rng.random(), side="right")
        new = out[at : at + 1]
    return out


def text_by_recursion(ids, params, n_heads, n_new, rng, temperature, top_k, top_p):
    if n_new == 0:
        return np.asarray(ids, dtype=float)
    z = decoder_forward(np.asarray(ids), params, n_heads)[0][-1]
    p = np.eye(len(z))[z.argmax()]
    if temperature > 0:
        p = cut_with_partition(z, temperature, top_k, top_p)
    token = rng.choice(np.arange(len(p)), p=p) if temperature > 0 else int(p.argmax())
    longer = np.concatenate([ids, [token]])
    return text_by_recursion(longer, params, n_heads, n_new - 1, rng, temperature, top_k, top_p)


RIGHT = {
    "embedding_forward": [
        rows_by_index, rows_by_take, rows_by_one_hot, rows_in_a_loop, rows_flat, rows_by_columns,
    ],
    "embedding_backward": [
        table_by_add_at, table_in_a_loop, table_by_one_hot, table_by_bincount, table_by_masks,
        table_by_sorting,
    ],
    "logits_forward": [
        logits_by_product, logits_by_einsum, logits_by_inner, logits_token_by_token, logits_flat,
        logits_in_a_loop,
    ],
    "logits_backward": [
        head_by_listing, head_by_einsum, head_by_loops, head_by_tensordot, head_by_tokens,
        head_by_batches,
    ],
    "next_token_loss": [
        loss_by_log_sum_exp, loss_by_logaddexp, loss_in_a_loop, loss_of_margins,
        loss_as_weighted_sum, loss_by_library,
    ],
    "next_token_gradient": [
        gradient_by_one_hot, gradient_by_put, gradient_in_a_loop, gradient_by_weights,
        gradient_as_list, gradient_through_softmax,
    ],
    "tied_loss_and_gradients": [
        stack_by_library, stack_on_all_positions, stack_by_hand, stack_with_tuples,
        stack_untied_then_added, stack_text_by_text,
    ],
    "training_losses": [
        training_in_a_loop, training_as_array, training_loss_at_the_end, training_on_a_copy,
        training_by_recursion, training_by_any_tree,
    ],
    "next_token_probabilities": [
        cut_by_minus_infinity, cut_one_by_one, cut_with_a_threshold, cut_by_pairs,
        cut_along_the_axis, cut_with_partition,
    ],
    "continue_ids": [
        text_by_library, text_by_choice, text_by_cumsum, text_in_a_loop, text_with_cache,
        text_by_recursion,
    ],
}  # fmt: skip
