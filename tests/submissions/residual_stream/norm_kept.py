# The stream is normalised under its own name, the write is added in place, and the identity path of
# the gradient is lost.

# %% pre_norm_update
def pre_norm_update(x, sublayer, weight, eps=1e-5):
    x, _ = rmsnorm_forward(x, weight, eps)
    return x + sublayer(x)


# %% post_norm_update
def post_norm_update(x, sublayer, weight, eps=1e-5):
    x += sublayer(x)
    return rmsnorm_forward(x, weight, eps)[0]


# %% pre_norm_update_backward
def pre_norm_update_backward(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    return rmsnorm_backward(sublayer_backward(dout), cache)


# %% stream_ledger
def stream_ledger(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights):
        before = x
        x = x + sublayer(rmsnorm_forward(x, weight, eps)[0])
        writes.append(x - before)
    return x, np.stack(writes)


# %% logit_shares
def logit_shares(parts, weight, direction, eps=1e-5):
    return np.stack([rmsnorm_forward(part, weight, eps)[0] @ direction for part in parts])
