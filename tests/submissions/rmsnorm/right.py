# %% rmsnorm_forward
def rmsnorm_forward(x, weight, eps=1e-5):
    wide = x.astype(np.result_type(x, np.float32))
    r = 1 / np.sqrt(np.mean(wide**2, axis=-1, keepdims=True) + eps)
    z = wide * r
    return (z * weight).astype(x.dtype), (x, weight, r, z.astype(x.dtype))


# %% after rmsnorm_forward
import matplotlib.pyplot as plt

sizes = np.logspace(-6, 2)
plt.semilogx(sizes, [rmsnorm_forward(np.array([s, -s]), np.ones(2))[0][0] for s in sizes])
plt.xlabel("RMS of the input")


# %% half_rms
def half_rms(eps):
    return (eps / 3) ** 0.5


# %% inv_rms_gradient
def inv_rms_gradient(x, eps=1e-5):
    r = (np.mean(x**2) + eps) ** -0.5
    return -(r**3) * x / len(x)


# %% normalize_jacobian
def normalize_jacobian(x, eps=1e-5):
    d = len(x)
    r = (np.mean(x**2) + eps) ** -0.5
    return r * np.eye(d) + np.outer(x, inv_rms_gradient(x, eps))


# %% normalize_vjp
def normalize_vjp(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    c = np.sum(dz * x, axis=-1, keepdims=True)
    return r * dz - x * r**3 * c / x.shape[-1]


# %% rmsnorm_backward
def rmsnorm_backward(dout, cache):
    x, weight, r, z = cache
    dz = dout * weight
    c = np.sum(dz * x, axis=-1, keepdims=True)
    dx = r * dz - x * r**3 * c / x.shape[-1]
    dweight = (dout * z).reshape(-1, x.shape[-1]).sum(axis=0)
    return dx, dweight


# %% layernorm_from_rmsnorm
def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):
    return rmsnorm_forward(x - x.mean(axis=-1, keepdims=True), weight, eps)[0] + bias


# %% [markdown] rank_one_in_words
# The second term points along x and takes out the part of the gradient that lies along x.
# If z̄ is a multiple of x the result is zero, because scaling x changes nothing after the norm.
# With a z̄ that is orthogonal to x nobody would miss the term.
