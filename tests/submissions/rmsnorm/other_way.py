# %% rmsnorm_forward
def rmsnorm_forward(x, weight, eps=1e-5):
    """Row by row, with the length in place of the mean square, and a dict for a cache."""
    d = x.shape[-1]
    wide = np.asarray(x, dtype=np.float64).reshape(-1, d)
    out = np.empty_like(wide)
    for row in range(len(wide)):
        length = np.linalg.norm(wide[row])
        out[row] = wide[row] * np.sqrt(d) / np.sqrt(length**2 + d * eps) * weight
    print("rows:", len(wide))
    return out.reshape(x.shape).astype(x.dtype), {"x": x, "g": weight, "eps": eps}


# %% half_rms
def half_rms(eps):
    return np.array([np.sqrt(eps) / np.sqrt(3)])


# %% inv_rms_gradient
def inv_rms_gradient(x, eps=1e-5):
    m = sum(v * v for v in x) / len(x) + eps
    return [-v / (len(x) * m * m**0.5) for v in x]


# %% normalize_jacobian
def normalize_jacobian(x, eps=1e-5):
    d = len(x)
    m = np.dot(x, x) / d + eps
    jacobian = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            jacobian[i, j] = (i == j) / np.sqrt(m) - x[i] * x[j] / (d * m**1.5)
    return jacobian


# %% normalize_vjp
def normalize_vjp(dz, x, eps=1e-5):
    r = (np.einsum("...i,...i->...", x, x) / x.shape[-1] + eps) ** -0.5
    z = x * r[..., None]
    along = np.einsum("...i,...i->...", dz, z) / x.shape[-1]
    return (dz - z * along[..., None]) * r[..., None]


# %% rmsnorm_backward
def rmsnorm_backward(dout, cache):
    x, g = cache["x"], cache["g"]
    dx = normalize_vjp(dout * g, x, cache["eps"])
    z = x / np.sqrt((x * x).mean(-1, keepdims=True) + cache["eps"])
    d = x.shape[-1]
    dweight = np.einsum("ti,ti->i", dout.reshape(-1, d), z.reshape(-1, d))
    return dx, dweight


# %% layernorm_from_rmsnorm
def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centre = np.eye(d) - 1 / d
    return rmsnorm_forward(x @ centre, weight, eps)[0] + bias
