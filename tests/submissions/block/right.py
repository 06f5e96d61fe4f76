# %% transformer_block_forward
def transformer_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    normed, norm1 = rmsnorm_forward(x, params["attn_norm"], eps)
    attended, attn = causal_self_attention_forward(normed, params, n_heads, rope_base, positions)
    residual = x + attended
    normed, norm2 = rmsnorm_forward(residual, params["ffn_norm"], eps)
    fed, ffn = swiglu_forward(normed, params)
    return residual + fed, (norm1, attn, residual, norm2, ffn)


# %% transformer_block_backward
def transformer_block_backward(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dnormed, grads = swiglu_backward(dout, ffn)
    dbranch, grads["ffn_norm"] = rmsnorm_backward(dnormed, norm2)
    dresidual = dout + dbranch
    dnormed, more = causal_self_attention_backward(dresidual, attn)
    dbranch, grads["attn_norm"] = rmsnorm_backward(dnormed, norm1)
    return dresidual + dbranch, grads | more


# %% numerical_gradient
def numerical_gradient(f, x, step=STEP):
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        here, h = x[i], step * max(1.0, abs(x[i]))
        x[i] = here + h
        above = f(x)
        x[i] = here - h
        below = f(x)
        x[i] = here
        gradient[i] = (above - below) / (2 * h)
    return gradient


# %% relative_error
def relative_error(a, b):
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return np.linalg.norm(a - b) / total if total else 0.0


# %% gradient_check
def gradient_check(loss, tensors, gradients, step=STEP):
    errors = {}
    for name, tensor in tensors.items():
        numeric = numerical_gradient(lambda t: loss({**tensors, name: t}), tensor, step)
        errors[name] = relative_error(numeric, gradients[name])
    return errors


# %% block_gradient_errors
def block_gradient_errors(forward, backward, x, params, n_heads, dout):
    dx, grads = backward(dout, forward(x, params, n_heads)[1])

    def loss(t):
        return np.sum(dout * forward(t["x"], t, n_heads)[0])

    return gradient_check(loss, {"x": x, **params}, {"x": dx, **grads})


# %% wrong_gradients
def wrong_gradients(backward):
    from transformer_block.block import transformer_block_forward as forward

    rng = np.random.default_rng(1)
    x, params, n_heads, dout = small_block(rng, 2, 3, 2, 2, n_heads=2, n_kv_heads=1, gain=0.7)
    errors = block_gradient_errors(forward, backward, x, params, n_heads, dout)
    return [name for name in errors if errors[name] > 1e-7]


# %% [markdown] faults_in_words
# First ffn_norm, which is multiplied by rows with the gain in them: gains of one hide it. Second x, whose
# way through the net alone is missing: a check of weights hides it. Third W_v, averaged over the heads that
# share it: no sharing hides it. Fourth attn_norm, without ε: a bound of 1e-4 hides it.
