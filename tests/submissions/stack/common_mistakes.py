# Repeated ids lost, a gradient that is not divided, one path into E, k + 1 tokens, the global rng.
# %% embedding_forward
def embedding_forward(ids, weight):
    return weight[ids], (ids, weight)


# %% embedding_backward
def embedding_backward(dout, cache):
    ids, weight = cache
    dweight = np.zeros_like(weight)
    dweight[ids] += dout
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
    p = np.exp(logits[..., :-1, :])
    p = p / p.sum(axis=-1, keepdims=True)
    return -np.log(np.take_along_axis(p, ids[..., 1:, None], axis=-1)).mean()


# %% next_token_gradient
def next_token_gradient(logits, ids):
    dlogits = np.zeros_like(logits)
    dlogits[..., :-1, :] = softmax(logits[..., :-1, :]) - np.eye(logits.shape[-1])[ids[..., 1:]]
    return dlogits


# %% tied_loss_and_gradients
def tied_loss_and_gradients(ids, params, n_heads):
    x, lookup = embedding_forward(ids, params["embedding"])
    caches = []
    for block in params["blocks"]:
        x, cache = transformer_block_forward(x, block, n_heads)
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    logits, head = logits_forward(out, params["embedding"])
    dlogits = next_token_gradient(logits, ids) / ids[..., 1:].size
    dout, dtop = logits_backward(dlogits, head)
    dx, dfinal_norm = rmsnorm_backward(dout, norm)
    dblocks = []
    for cache in reversed(caches):
        dx, dblock = transformer_block_backward(dx, cache)
        dblocks.insert(0, dblock)
    grads = {"embedding": dtop, "blocks": dblocks, "final_norm": dfinal_norm}
    return next_token_loss(logits, ids), grads


# %% training_losses
def training_losses(ids, params, n_heads, rate, n_steps):
    losses = []
    for _ in range(n_steps + 1):
        loss, grads = tied_loss_and_gradients(ids, params, n_heads)
        losses.append(loss)
        params["embedding"] -= rate * grads["embedding"]
    return losses


# %% next_token_probabilities
def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=1.0):
    p = softmax(logits / temperature)
    if top_k is not None and top_k < p.shape[-1]:
        p = np.where(p >= np.sort(p, axis=-1)[..., -top_k - 1, None], p, 0)
        p = p / p.sum(axis=-1, keepdims=True)
    return p


# %% continue_ids
def continue_ids(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    for _ in range(n_new):
        logits, _ = decoder_forward(ids, params, n_heads)
        token = np.argmax(logits[-1])
        if temperature > 0:
            p = next_token_probabilities(logits[-1], temperature, top_k, top_p)
            token = np.random.choice(len(p), p=p)
        ids = np.append(ids, token)
    return ids


# %% [markdown] tying_in_words
# Absent tokens get no gradient. 110 is a bug in the data. Shifted twice the loss would be the same.
