# %% rmsnorm_forward
def rmsnorm_forward(x, weight, eps=1e-5):
    wide = x.astype(np.result_type(x, np.float32))
    r = 1 / np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + eps)
    return (wide * r * weight).astype(x.dtype), (x, weight, r, (wide * r).astype(x.dtype))


# %% half_rms
def half_rms(eps):
    return np.sqrt(eps / 3)


# %% inv_rms_gradient
def inv_rms_gradient(x, eps=1e-5):
    return -((np.mean(x * x) + eps) ** -1.5) * x / x.size


# %% normalize_jacobian
def normalize_jacobian(x, eps=1e-5):
    return np.eye(x.size) * (np.mean(x * x) + eps) ** -0.5 + np.outer(x, inv_rms_gradient(x, eps))


# %% normalize_vjp
def normalize_vjp(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return dz * r


# %% rmsnorm_backward
def rmsnorm_backward(dout, cache):
    x, weight, r, z = cache
    return dout * weight * r, np.sum(dout * z, axis=tuple(range(x.ndim - 1)))


# %% layernorm_from_rmsnorm
def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    return rmsnorm_forward(x - mean, weight, eps)[0] + bias


# %% [markdown] rank_one_in_words
# It is a small correction that can be left out in practice.
