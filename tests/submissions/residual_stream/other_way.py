# %% pre_norm_update
def pre_norm_update(x, sublayer, weight, eps=1e-5):
    """The norm by hand, the sum on a copy."""
    size = np.sqrt(np.einsum("...d,...d->...", x, x) / x.shape[-1] + eps)[..., None]
    out = x.copy()
    out += sublayer((x / size * weight).astype(x.dtype))
    return out


# %% post_norm_update
def post_norm_update(x, sublayer, weight, eps=1e-5):
    total, out = np.add(sublayer(x), x), np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row = total[index]
        out[index] = weight * row / np.sqrt(np.dot(row, row) / len(row) + eps)
    return out


# %% pre_norm_update_backward
def pre_norm_update_backward(dout, x, sublayer_backward, weight, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    z = x * r
    dnormed = sublayer_backward(dout)
    dz = dnormed * weight
    dbranch = r * (dz - z * np.mean(dz * z, axis=-1, keepdims=True))
    return [dbranch + dout, (dnormed * z).reshape(-1, x.shape[-1]).sum(axis=0)]


# %% stream_ledger
def stream_ledger(x, sublayers, weights, eps=1e-5):
    """One after the other, by recursion."""
    written = sublayers[0](rmsnorm_forward(x, weights[0], eps)[0])
    print("written by", len(sublayers), "from the end")
    if len(sublayers) == 1:
        return x + written, written[None]
    out, writes = stream_ledger(x + written, sublayers[1:], weights[1:], eps)
    return out, np.concatenate([written[None], writes])


# %% logit_shares
def logit_shares(parts, weight, direction, eps=1e-5):
    """With the scale held fixed, a part's share is what goes when the part is taken out."""
    stream = sum(parts)
    r = 1 / np.sqrt(np.mean(stream**2, axis=-1, keepdims=True) + eps)
    whole = (stream * r * weight) @ direction
    return [whole - ((stream - part) * r * weight) @ direction for part in parts]


# %% gradient_by_depth
def gradient_by_depth(x, blocks, dout, n_heads, order="pre"):
    def down(x, blocks):
        if not blocks:
            return dout, []
        out, cache = contrast_block_forward(x, blocks[0], n_heads, order=order)
        above, sizes = down(out, blocks[1:])
        here, _ = contrast_block_backward(above, cache)
        return here, [np.linalg.norm(here) / here.size**0.5, *sizes]

    return [*down(x, blocks)[1], np.linalg.norm(dout) / dout.size**0.5]
