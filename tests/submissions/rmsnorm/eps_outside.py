# %% rmsnorm_forward
def rmsnorm_forward(x, weight, eps=1e-5):
    wide = x.astype(np.result_type(x, np.float32))
    rms = np.sqrt(np.mean(wide**2, axis=-1, keepdims=True))
    r = 1 / (rms + eps)
    z = wide * r
    return (z * weight).astype(x.dtype), (x, weight, r, z.astype(x.dtype))


# %% half_rms
def half_rms(eps):
    return eps


# %% inv_rms_gradient
def inv_rms_gradient(x, eps=1e-5):
    r = (np.mean(x**2) + eps) ** -0.5
    return -(r**3) * x / len(x)


# %% normalize_jacobian
def normalize_jacobian(x, eps=1e-5):
    r = (np.mean(x**2) + eps) ** -0.5
    return r * np.eye(len(x)) - r**3 * np.outer(x, x) / len(x)


# %% normalize_vjp
def normalize_vjp(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    return r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True)


# %% rmsnorm_backward
def rmsnorm_backward(dout, cache):
    x, weight, r, z = cache
    dz = dout * weight
    dx = r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True)
    return dx, np.sum(dout * z, axis=tuple(range(x.ndim - 1)))


# %% layernorm_from_rmsnorm
def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):
    return rmsnorm_forward(x - x.mean(axis=-1, keepdims=True), weight, eps)[0] + bias
