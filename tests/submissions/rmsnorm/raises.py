# %% rmsnorm_forward
def rmsnorm_forward(x, weight, eps=1e-5):
    mean_square = np.mean(x @ x, axis=-1)
    r = 1 / np.sqrt(mean_square + eps)
    return x * r * weight, (x, weight, r, x * r)

# %% half_rms
def half_rms(eps):
    return np.sqrt(eps / 3

# %% inv_rms_gradient
def inv_rms_gradient(x, eps=1e-5):
    r = (np.mean(x**2) + eps) ** -0.5
    return -(r**3) * x / len(x)

# %% after inv_rms_gradient
raise RuntimeError("stopped here on Tuesday")

# %% normalize_jacobian
def normalize_jacobian(x, eps=1e-5):
    return rms_inverse(x, eps) * np.eye(len(x)) + np.outer(x, inv_rms_gradient(x, eps))

# %% normalize_vjp
def normalize_vjp(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    c = np.sum(dz * x, axis=-1, keepdims=True)
    return r * dz - x * r**3 * c / x.shape[-1]
