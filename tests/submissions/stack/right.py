# %% embedding_forward
def embedding_forward(ids, weight):
    return weight[ids], (ids, weight)


# %% embedding_backward
def embedding_backward(dout, cache):
    ids, weight = cache
    dweight = np.zeros_like(weight)
    np.add.at(dweight, ids, dout)
    return dweight


# %% logits_forward
def logits_forward(x, weight):
    return x @ weight.T, (x, weight)


# %% logits_backward
def logits_backward(dlogits, cache):
    x, weight = cache
    return dlogits @ weight, weight_gradient(dlogits, x)


# %% next_token_loss
def next_token_loss(logits, ids):
    z, targets = logits[..., :-1, :], ids[..., 1:]
    z = z - z.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -np.take_along_axis(log_p, targets[..., None], axis=-1).mean()


# %% next_token_gradient
def next_token_gradient(logits, ids):
    targets = ids[..., 1:]
    dlogits = np.zeros_like(logits)
    dlogits[..., :-1, :] = softmax(logits[..., :-1, :]) - np.eye(logits.shape[-1])[targets]
    return dlogits / targets.size


# %% tied_loss_and_gradients
def tied_loss_and_gradients(ids, params, n_heads):
    E = params["embedding"]
    x, lookup = embedding_forward(ids, E)
    caches = []
    for block in params["blocks"]:
        x, cache = transformer_block_forward(x, block, n_heads)
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    logits, head = logits_forward(out, E)
    loss = next_token_loss(logits, ids)
    dout, dtop = logits_backward(next_token_gradient(logits, ids), head)
    dx, dfinal_norm = rmsnorm_backward(dout, norm)
    dblocks = []
    for cache in caches[::-1]:
        dx, dblock = transformer_block_backward(dx, cache)
        dblocks.insert(0, dblock)
    dE = dtop + embedding_backward(dx, lookup)
    return loss, {"embedding": dE, "blocks": dblocks, "final_norm": dfinal_norm}


# %% training_losses
def training_losses(ids, params, n_heads, rate, n_steps):
    losses = []
    for _ in range(n_steps + 1):
        loss, grads = tied_loss_and_gradients(ids, params, n_heads)
        losses.append(loss)
        params = {
            "embedding": params["embedding"] - rate * grads["embedding"],
            "final_norm": params["final_norm"] - rate * grads["final_norm"],
            "blocks": [
                {name: p[name] - rate * g[name] for name in p}
                for p, g in zip(params["blocks"], grads["blocks"])
            ],
        }
    return losses


# %% after training_losses
import matplotlib.pyplot as plt

V, d = 5, 4
shapes = {
    "W_q": (d, d), "W_k": (d, d), "W_v": (d, d), "W_o": (d, d),
    "W_gate": (d, 8), "W_up": (d, 8), "W_down": (8, d),
}
rng = np.random.default_rng(1)
block = {name: 0.3 * rng.normal(size=shape) for name, shape in shapes.items()}
block |= {"attn_norm": np.ones(d), "ffn_norm": np.ones(d)}
small = {"embedding": 0.1 * rng.normal(size=(V, d)), "blocks": [block], "final_norm": np.ones(d)}
plt.plot(training_losses(np.array([0, 1, 2, 3, 4, 0, 1, 2]), small, 2, 0.3, 20))
plt.xlabel("step")


# %% next_token_probabilities
def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=1.0):
    p = softmax((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    order = np.argsort(-p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    if top_k is not None:
        ranked[..., top_k:] = 0
    ranked = ranked / ranked.sum(axis=-1, keepdims=True)
    before = ranked.cumsum(axis=-1) - ranked
    ranked = np.where(before < top_p, ranked, 0)
    ranked = ranked / ranked.sum(axis=-1, keepdims=True)
    out = np.zeros_like(p)
    np.put_along_axis(out, order, ranked, axis=-1)
    return out


# %% continue_ids
def continue_ids(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    for _ in range(n_new):
        logits, _ = decoder_forward(ids, params, n_heads)
        if temperature == 0:
            token = np.argmax(logits[-1])
        else:
            p = next_token_probabilities(logits[-1], temperature, top_k, top_p)
            token = np.argmax(np.cumsum(p) > rng.random())
        ids = np.append(ids, token)
    return ids


# %% [markdown] tying_in_words
# Tied: yes, since every token is in the normaliser of the softmax and its row is pushed away from h.
# With a separate head the row of the embedding gets zero, as it was not looked up. 110 is possible:
# the logits are far too large, ln V would be 10.8; I would look at the standard deviation of the
# embedding. Shifted twice, it learns the token after the next; the loss still falls and no shape
# complains.
