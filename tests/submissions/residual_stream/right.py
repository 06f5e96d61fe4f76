# %% pre_norm_update
def pre_norm_update(x, sublayer, weight, eps=1e-5):
    normed, _ = rmsnorm_forward(x, weight, eps)
    return x + sublayer(normed)


# %% after pre_norm_update
x = np.arange(12.0).reshape(3, 4)
print(np.array_equal(pre_norm_update(x, np.zeros_like, np.ones(4)), x))


# %% post_norm_update
def post_norm_update(x, sublayer, weight, eps=1e-5):
    return rmsnorm_forward(x + sublayer(x), weight, eps)[0]


# %% pre_norm_update_backward
def pre_norm_update_backward(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dbranch, dweight = rmsnorm_backward(sublayer_backward(dout), cache)
    return dout + dbranch, dweight


# %% stream_ledger
def stream_ledger(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights):
        written = sublayer(rmsnorm_forward(x, weight, eps)[0])
        writes.append(written)
        x = x + written
    return x, np.stack(writes)


# %% logit_shares
def logit_shares(parts, weight, direction, eps=1e-5):
    _, (_, _, inv_rms, _) = rmsnorm_forward(parts.sum(axis=0), weight, eps)
    return (parts * inv_rms * weight) @ direction


# %% gradient_by_depth
def gradient_by_depth(x, blocks, dout, n_heads, order="pre"):
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    sizes = [np.sqrt(np.mean(dout**2))]
    for cache in reversed(caches):
        dout, _ = contrast_block_backward(dout, cache)
        sizes.append(np.sqrt(np.mean(dout**2)))
    return np.array(sizes[::-1])


# %% [markdown] stream_in_words
# Attention reads the tokens before this one and adds a mixture of what they offer. The net reads only
# this token and adds features computed from it. Both add, neither replaces. With pre-norm the norm is
# on the branch, so the stream is a sum, and the gradient has the identity as one term in every block.
# With post-norm every update rescales the whole stream and the gradient with it. From "France" to the
# last token only attention can carry anything. I would split both logits into shares and compare.
