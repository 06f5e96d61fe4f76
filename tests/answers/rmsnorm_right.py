"""Right answers that look different: every one of them must pass every claim."""

from types import SimpleNamespace

import numpy as np


def wide(x):
    return np.asarray(x).astype(np.result_type(x, np.float32))


# rmsnorm_forward


def by_loops(x, weight, eps=1e-5):
    rows = wide(x).reshape(-1, x.shape[-1])
    out = np.zeros(rows.shape, dtype=rows.dtype)
    for t, row in enumerate(rows):
        mean_square = sum(float(v) ** 2 for v in row) / len(row)
        for i, value in enumerate(row):
            out[t, i] = weight[i] * value / (mean_square + eps) ** 0.5
    return out.reshape(x.shape).astype(x.dtype), None


def by_length(x, weight, eps=1e-5):
    d = x.shape[-1]
    length = np.linalg.norm(wide(x), axis=-1, keepdims=True)
    root = np.sqrt(length**2 / d + eps)
    return (weight * wide(x) / root).astype(x.dtype), SimpleNamespace(x=x, root=root)


def by_einsum(x, weight, eps=1e-5):
    y = wide(x)
    r = (np.einsum("...i,...i->...", y, y) / y.shape[-1] + eps) ** -0.5
    out = np.einsum("...i,...,i->...i", y, r, weight)
    return out.astype(x.dtype), {"x": x, "r": r, "weight": weight, "eps": eps}


def by_matrix(x, weight, eps=1e-5):
    y = wide(x)
    mean_square = (y * y) @ np.full((y.shape[-1], 1), 1 / y.shape[-1])
    out = (y / np.sqrt(mean_square + eps)) @ np.diag(weight)
    return [out.astype(x.dtype), [x, weight, eps, "kept for later"]]


def with_noise(x, weight, eps=1e-5):
    print("I am being called with", x.shape)
    np.log(np.zeros(1))  # NumPy warns
    y = np.array(x, dtype=np.float64)
    y *= 1 / np.sqrt(np.average(np.square(y), axis=-1)[..., None] + eps)
    return np.multiply(y, weight).astype(x.dtype), y


def by_logarithm(x, weight, eps=1e-5):
    y = wide(x).astype(np.float64)
    mean_square = np.square(y).mean(-1, keepdims=True)
    r = np.exp(-0.5 * np.log(mean_square + eps))
    return np.asarray(y * r * weight, dtype=x.dtype), ()


# half_rms


def half_by_power(eps):
    return (eps / 3) ** 0.5


def half_by_solver(eps):
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 4 * middle**2 < middle**2 + eps else (low, middle)
    return low


def half_as_array(eps):
    return np.array([[np.sqrt(eps) / np.sqrt(3)]])


def half_as_list(eps):
    return [3**-0.5 * eps**0.5]


def half_as_tangent(eps):
    return np.sqrt(eps) * np.tan(np.pi / 6)


def half_as_scalar(eps):
    return np.float64(np.hypot(np.sqrt(eps) / 2, np.sqrt(eps / 12)))


# inv_rms_gradient


def gradient_by_m(x, eps=1e-5):
    return -x / (x.size * (np.mean(x**2) + eps) ** 1.5)


def gradient_by_loop(x, eps=1e-5):
    m = sum(v * v for v in x) / len(x) + eps
    return [-v / len(x) / m / m**0.5 for v in x]


def gradient_by_z(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    return -(r**2) * (x * r) / x.shape[-1]


def gradient_by_length(x, eps=1e-5):
    d = x.size
    return -np.sqrt(d) * x / (np.linalg.norm(x) ** 2 + d * eps) ** 1.5


def gradient_of_complex_step(x, eps=1e-5):
    """Exact to rounding, so it counts as a formula."""
    step = 1e-200
    shifted = x + 1j * step * np.eye(x.size)
    return np.imag((np.mean(shifted**2, axis=-1) + eps) ** -0.5) / step


def gradient_in_a_row(x, eps=1e-5):
    return np.array([-v * np.exp(-1.5 * np.log(np.dot(x, x) / len(x) + eps)) / len(x) for v in x])


# normalize_jacobian


def jacobian_by_loops(x, eps=1e-5):
    d = len(x)
    r = (np.mean(x * x) + eps) ** -0.5
    return [[r * (i == j) - r**3 * x[i] * x[j] / d for j in range(d)] for i in range(d)]


def jacobian_by_broadcast(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    return np.diag(np.full(x.size, r)) - x[:, None] * x[None, :] * r**3 / x.size


def jacobian_by_projection(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    z = x * r
    return r * (np.identity(x.size) - np.outer(z, z) / x.size)


def jacobian_by_product_rule(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    return r * np.eye(x.size) + np.outer(x, gradient_by_z(x, eps))


def jacobian_by_einsum(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    return r * (np.eye(x.size) - np.einsum("i,j->ji", x, x) * r * r / x.size)


def jacobian_by_columns(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    columns = [r * np.eye(x.size)[j] - x * r**3 * x[j] / x.size for j in range(x.size)]
    return np.stack(columns, axis=1)


# normalize_vjp


def vjp_by_formula(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True)


def vjp_by_projection(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    z = x * r
    return r * (dz - z * np.mean(z * dz, axis=-1, keepdims=True))


def vjp_by_jacobian(dz, x, eps=1e-5):
    d = x.shape[-1]
    rows = [
        np.asarray(jacobian_by_loops(b, eps)).T @ a
        for a, b in zip(dz.reshape(-1, d), x.reshape(-1, d), strict=True)
    ]
    return np.array(rows).reshape(x.shape)


def vjp_by_einsum(dz, x, eps=1e-5):
    r = (np.einsum("...i,...i->...", x, x) / x.shape[-1] + eps) ** -0.5
    c = np.einsum("...i,...i->...", dz, x)
    return r[..., None] * dz - np.einsum("...i,...->...i", x, r**3 * c) / x.shape[-1]


def vjp_by_loops(dz, x, eps=1e-5):
    dx = np.empty(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        r = (np.mean(x[index] ** 2) + eps) ** -0.5
        dx[index] = r * dz[index] - x[index] * r**3 * np.dot(dz[index], x[index]) / x.shape[-1]
    return dx


def vjp_by_quotient(dz, x, eps=1e-5):
    m = np.mean(x * x, axis=-1, keepdims=True) + eps
    return (dz * m - x * np.mean(dz * x, axis=-1, keepdims=True)) / (m * np.sqrt(m))


# rmsnorm_backward, with the cache of the listings


def backward_by_listing(dout, cache):
    x, weight, r, z = cache
    dz = dout * weight
    c = np.sum(dz * x, axis=-1, keepdims=True)
    return r * dz - x * r**3 * c / x.shape[-1], (dout * z).reshape(-1, len(weight)).sum(0)


def backward_by_projection(dout, cache):
    x, weight, r, z = cache
    dz = weight * dout
    dweight = np.einsum("ti,ti->i", dout.reshape(-1, len(weight)), z.reshape(-1, len(weight)))
    return [(dz - z * np.mean(dz * z, axis=-1, keepdims=True)) * r, dweight]


def backward_by_loops(dout, cache):
    x, weight, r, z = cache
    dx, dweight = np.zeros_like(x), np.zeros_like(weight)
    for t in np.ndindex(x.shape[:-1]):
        dweight += dout[t] * z[t]
        dz = dout[t] * weight
        dx[t] = r[t] * dz - x[t] * r[t] ** 3 * np.dot(dz, x[t]) / len(weight)
    return dx, dweight


def backward_by_matrix(dout, cache):
    x, weight, r, z = cache
    rows = (-1, len(weight))
    dz = (dout @ np.diag(weight)).astype(x.dtype)
    dx = r * dz - z * r * np.mean(dz * z, axis=-1, keepdims=True)
    return dx, np.diag(dout.reshape(rows).T @ z.reshape(rows))


def backward_from_x(dout, cache):
    x, weight, r, _ = cache
    dweight = dout * (x * r)
    while dweight.ndim > 1:
        dweight = dweight.sum(axis=0)
    return vjp_by_loops(
        dout * weight, x, (r**-2 - np.mean(x * x, -1, keepdims=True)).flat[0]
    ).astype(x.dtype), dweight


def backward_by_ones(dout, cache):
    x, weight, r, z = cache
    dz = dout * weight
    ones = np.ones((x.shape[-1], 1), dtype=x.dtype)
    return r * (dz - z * ((dz * z) @ ones) / x.shape[-1]), np.ones(
        x.size // x.shape[-1], dtype=x.dtype
    ) @ (dout * z).reshape(-1, x.shape[-1])


# layernorm_from_rmsnorm


def rms_out(x, weight, eps):
    return by_length(x, weight, eps)[0]


def layer_by_call(x, weight, bias, eps=1e-5):
    return rms_out(x - x.mean(axis=-1, keepdims=True), weight, eps) + bias


def layer_by_matrix(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    return rms_out(x @ (np.eye(d) - 1 / d), weight, eps) + bias


def layer_by_formula(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def layer_by_moments(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = np.mean(np.square(x - mean), -1, keepdims=True)
    return (x - mean) * (variance + eps) ** -0.5 * weight + bias


def layer_by_loops(x, weight, bias, eps=1e-5):
    if x.ndim > 1:
        return [layer_by_loops(part, weight, bias, eps) for part in x]
    return rms_out(x - sum(x) / len(x), weight, eps) + bias


def layer_gain_last(x, weight, bias, eps=1e-5):
    ones = np.ones_like(weight)
    return bias + weight * rms_out(x - np.average(x, axis=-1)[..., None], ones, eps)


RIGHT = {
    "rmsnorm_forward": [
        by_loops, by_length, by_einsum, by_matrix, with_noise, by_logarithm,
    ],
    "half_rms": [
        half_by_power, half_by_solver, half_as_array, half_as_list, half_as_tangent,
        half_as_scalar,
    ],
    "inv_rms_gradient": [
        gradient_by_m, gradient_by_loop, gradient_by_z, gradient_by_length,
        gradient_of_complex_step, gradient_in_a_row,
    ],
    "normalize_jacobian": [
        jacobian_by_loops, jacobian_by_broadcast, jacobian_by_projection,
        jacobian_by_product_rule, jacobian_by_einsum, jacobian_by_columns,
    ],
    "normalize_vjp": [
        vjp_by_formula, vjp_by_projection, vjp_by_jacobian, vjp_by_einsum, vjp_by_loops,
        vjp_by_quotient,
    ],
    "rmsnorm_backward": [
        backward_by_listing, backward_by_projection, backward_by_loops, backward_by_matrix,
        backward_from_x, backward_by_ones,
    ],
    "layernorm_from_rmsnorm": [
        layer_by_call, layer_by_matrix, layer_by_formula, layer_by_moments, layer_by_loops,
        layer_gain_last,
    ],
}  # fmt: skip
