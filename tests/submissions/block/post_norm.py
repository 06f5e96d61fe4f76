# The norm after the add, `=` where the ways of a split meet, one-sided differences with a large step, and one
# error for all tensors. What does not depend on them keeps its points.


# %% transformer_block_forward
def transformer_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    attended, attn = causal_self_attention_forward(x, params, n_heads, rope_base, positions)
    residual, norm1 = rmsnorm_forward(x + attended, params["attn_norm"], eps)
    fed, ffn = swiglu_forward(residual, params)
    out, norm2 = rmsnorm_forward(residual + fed, params["ffn_norm"], eps)
    return out, (norm1, attn, residual, norm2, ffn)


# %% transformer_block_backward
def transformer_block_backward(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dx, grads = swiglu_backward(dout, ffn)
    dx, grads["ffn_norm"] = rmsnorm_backward(dx, norm2)
    dx, more = causal_self_attention_backward(dx, attn)
    dx, grads["attn_norm"] = rmsnorm_backward(dx, norm1)
    return dx, grads | more


# %% numerical_gradient
def numerical_gradient(f, x, step=1e-3):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += step
        gradient[i] = (f(moved) - f(x)) / step
    return gradient


# %% relative_error
def relative_error(a, b):
    return np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b) + 1e-6)


# %% gradient_check
def gradient_check(loss, tensors, gradients, step=STEP):
    errors = {
        name: relative_error(
            numerical_gradient(lambda t: loss({**tensors, name: t}), tensors[name]),
            gradients[name],
        )
        for name in tensors
    }
    return dict.fromkeys(tensors, max(errors.values()))


# %% block_gradient_errors
def block_gradient_errors(forward, backward, x, params, n_heads, dout):
    _, grads = backward(dout, forward(x, params, n_heads)[1])
    return gradient_check(lambda t: np.sum(dout * forward(x, t, n_heads)[0]), params, grads)


# %% wrong_gradients
def wrong_gradients(backward):
    from transformer_block.block import transformer_block_forward as forward

    block = small_block(np.random.default_rng(0), 2, 4, 3, 2, n_heads=2, n_kv_heads=2, gain=1.0)
    errors = block_gradient_errors(forward, backward, *block)
    return [name for name, error in errors.items() if error > 1e-4]


# %% [markdown] faults_in_words
# I found none of them, so the passes are probably right.
