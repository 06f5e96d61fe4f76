# %% embedding_forward
def embedding_forward(ids, weight):
    """By a product with one-hot rows."""
    hot = (ids[..., None] == np.arange(len(weight))).astype(weight.dtype)
    return hot @ weight, hot


# %% embedding_backward
def embedding_backward(dout, cache):
    if isinstance(cache, tuple):
        ids, weight = cache
        cache = (ids[..., None] == np.arange(len(weight))).astype(weight.dtype)
    V = cache.shape[-1]
    return cache.reshape(-1, V).T @ dout.reshape(-1, dout.shape[-1])


# %% logits_forward
def logits_forward(x, weight):
    return np.einsum("...d,vd->...v", x, weight), {"x": x, "E": weight}


# %% logits_backward
def logits_backward(dlogits, cache):
    x, E = cache.values() if isinstance(cache, dict) else cache
    dx, dE = np.empty_like(x), np.zeros_like(E)
    for place in np.ndindex(x.shape[:-1]):
        dx[place] = dlogits[place] @ E
        dE += np.outer(dlogits[place], x[place])
    return [dx, dE]


# %% next_token_loss
def next_token_loss(logits, ids):
    z = logits[..., :-1, :]
    hot = np.eye(z.shape[-1])[ids[..., 1:]]
    return float(np.mean(np.logaddexp.reduce(z, axis=-1) - np.sum(hot * z, axis=-1)))


# %% next_token_gradient
def next_token_gradient(logits, ids):
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=-1)[..., None])
    p[..., -1, :] = 0
    for place in np.ndindex(ids.shape):
        if place[-1] + 1 < ids.shape[-1]:
            p[(*place, ids[(*place[:-1], place[-1] + 1)])] -= 1
    print("pairs:", ids[..., 1:].size)
    return (p / ids[..., 1:].size).tolist()


# %% tied_loss_and_gradients
def tied_loss_and_gradients(ids, params, n_heads):
    E = params["embedding"]
    stream, caches = [E[ids]], []
    for block in params["blocks"]:
        out, cache = transformer_block_forward(stream[-1], block, n_heads)
        stream.append(out)
        caches.append(cache)
    out, norm = rmsnorm_forward(stream[-1], params["final_norm"])
    logits = out @ E.T
    dlogits = np.array(next_token_gradient(logits, ids))
    grads = {"embedding": np.tensordot(dlogits, out, [range(ids.ndim)] * 2)}
    dx, grads["final_norm"] = rmsnorm_backward(dlogits @ E, norm)
    grads["blocks"] = [None] * len(caches)
    while caches:
        cache = caches.pop()
        dx, grads["blocks"][len(caches)] = transformer_block_backward(dx, cache)
    np.add.at(grads["embedding"], ids, dx)
    return next_token_loss(logits, ids), grads


# %% training_losses
def training_losses(ids, params, n_heads, rate, n_steps):
    loss, grads = tied_loss_and_gradients(ids, params, n_heads)
    if n_steps == 0:
        return np.array([loss])

    def down(p, g):
        if isinstance(p, dict):
            return {name: down(p[name], g[name]) for name in p}
        return [*map(down, p, g)] if isinstance(p, list) else p - rate * g

    rest = training_losses(ids, down(params, grads), n_heads, rate, n_steps - 1)
    return np.concatenate([[loss], rest])


# %% next_token_probabilities
def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=1.0):
    """Each row by itself, cutting with minus infinity."""
    if logits.ndim > 1:
        settings = (temperature, top_k, top_p)
        return np.array([next_token_probabilities(row, *settings) for row in logits])
    z = (logits - logits.max()) / temperature
    if top_k is not None:
        z[np.argsort(-z)[top_k:]] = -np.inf
    total = 0.0
    for token in np.argsort(-z):
        if total >= top_p:
            z[token] = -np.inf
        else:
            total += np.exp(z[token]) / np.exp(np.sort(z)).sum()
            if total >= top_p:
                whole = z.copy()
                whole[z < z[token]] = -np.inf
                return np.exp(whole) / np.exp(whole).sum()
    return np.exp(z) / np.exp(z).sum()


# %% continue_ids
def continue_ids(ids, params, n_heads, n_new, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    text = [int(token) for token in ids]
    while len(text) < len(ids) + n_new:
        row = decoder_forward(np.array([text]), params, n_heads)[0][0, -1]
        if temperature > 0:
            p = next_token_probabilities(row, temperature, top_k, top_p)
            text.append(int(rng.choice(len(p), p=p)))
        else:
            text.append(max(range(len(row)), key=row.__getitem__))
    return text
