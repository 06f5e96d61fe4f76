"""Right answers that look different: every one of them must pass every claim."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

# sigmoid


def sigmoid_by_tanh(x):
    return (1 + np.tanh(x / 2)) / 2


def sigmoid_by_size(x):
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def sigmoid_by_parts(x):
    out = np.empty_like(x)
    left = x < 0
    out[left] = np.exp(x[left]) / (1 + np.exp(x[left]))
    out[~left] = 1 / (1 + np.exp(-x[~left]))
    return out


def sigmoid_by_logaddexp(x):
    return np.exp(-np.logaddexp(x.dtype.type(0), -x))


def sigmoid_in_a_row(x):
    values = [math.exp(min(v, 0.0)) / (1 + math.exp(-abs(v))) for v in x.ravel().tolist()]
    return np.array(values, dtype=x.dtype).reshape(x.shape)


def sigmoid_quietly(x):
    with np.errstate(over="ignore"):
        return np.reciprocal(1 + np.exp(-x))


def sigmoid_clipped(x):
    print("clipping", x.shape)
    return 1 / (1 + np.exp(-np.clip(x, -80, 80)))


# silu


def silu_by_tanh(x):
    return x / 2 * (1 + np.tanh(x / 2))


def silu_by_size(x):
    return x * sigmoid_by_size(x)


def silu_by_parts(x):
    return x * sigmoid_by_parts(x)


def silu_by_list(x):
    return [silu_by_list(row) for row in x] if x.ndim else float(silu_by_tanh(x))


def silu_by_quotient(x):
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-x))


def silu_by_einsum(x):
    return np.einsum("...,...->...", sigmoid_by_logaddexp(x), x)


def silu_as_half_and_odd_part(x):
    np.log(np.zeros(1))  # NumPy warns of something else
    return 0.5 * x + 0.5 * np.abs(x) * np.tanh(0.5 * np.abs(x))


# silu_derivative


def slope_by_listing(x):
    s = sigmoid_by_tanh(x)
    return s * (1 + x * (1 - s))


def slope_by_product_rule(x):
    s = sigmoid_by_size(x)
    return s + x * s * (1 - s)


def slope_by_silu(x):
    s, f = sigmoid_by_tanh(x), silu_by_tanh(x)
    return f + s * (1 - f)


def slope_by_tanh(x):
    t = np.tanh(x / 2)
    return (1 + t) / 2 + x * (1 - t) * (1 + t) / 4


def slope_by_complex_step(x):
    """Exact to rounding, so it counts as a formula."""
    z = x + 1e-200j
    return np.imag(z * (0.5 * (1 + np.tanh(z / 2)))) / 1e-200


def slope_by_two_sigmoids(x):
    up, down = sigmoid_by_size(x), sigmoid_by_size(-x)
    return up * (1 + x * down)


def slope_in_a_loop(x):
    out = np.zeros(x.shape)
    for i, v in np.ndenumerate(x):
        e = math.exp(-abs(v))
        s = (1 if v >= 0 else e) / (1 + e)
        out[i] = s + v * e / (1 + e) ** 2
    return out.tolist()


# swiglu_forward


def forward_by_listing(x, params):
    gate = x @ params["W_gate"]
    up = x @ params["W_up"]
    hidden = silu_by_tanh(gate) * up
    return hidden @ params["W_down"], (x, params, gate, up, hidden)


def forward_by_einsum(x, params):
    gate = np.einsum("...d,dh->...h", x, params["W_gate"])
    up = np.einsum("...d,dh->...h", x, params["W_up"])
    out = np.einsum("...h,...h,hd->...d", silu_by_size(gate), up, params["W_down"])
    return out, {"x": x, "weights": params}


def forward_by_one_matrix(x, params):
    both = x @ np.concatenate([params["W_gate"], params["W_up"]], axis=1)
    gate, up = np.split(both, 2, axis=-1)
    return np.dot(up * silu_by_parts(gate), params["W_down"]), SimpleNamespace(both=both)


def forward_by_loops(x, params):
    rows = x.reshape(-1, x.shape[-1])
    out = np.zeros_like(rows)
    for t, row in enumerate(rows):
        for k in range(params["W_gate"].shape[1]):
            gate = sum(row[i] * params["W_gate"][i, k] for i in range(len(row)))
            up = sum(row[i] * params["W_up"][i, k] for i in range(len(row)))
            out[t] += silu_by_tanh(gate) * up * params["W_down"][k]
    return out.reshape(x.shape), None


def forward_by_transposes(x, params):
    weights = {name: matrix.T.copy() for name, matrix in params.items()}
    columns = x.reshape(-1, x.shape[-1]).T
    hidden = silu_by_tanh(weights["W_gate"] @ columns) * (weights["W_up"] @ columns)
    return [(weights["W_down"] @ hidden).T.reshape(x.shape), (x, params, "kept")]


def forward_with_noise(x, params):
    print("gate:", params["W_gate"].shape)
    w_gate, w_up, w_down = (params[name] for name in ("W_gate", "W_up", "W_down"))
    g = np.matmul(x, w_gate)
    with np.errstate(over="warn"):
        return np.matmul(g / (1 + np.exp(-g)) * np.matmul(x, w_up), w_down), ()


# gate_backward


def product_by_listing(dhidden, gate, up):
    return dhidden * up * slope_by_listing(gate), dhidden * silu_by_tanh(gate)


def product_by_einsum(dhidden, gate, up):
    dgate = np.einsum("...,...,...->...", dhidden, up, slope_by_silu(gate))
    return [dgate, np.einsum("...,...->...", dhidden, silu_by_size(gate))]


def product_in_steps(dhidden, gate, up):
    s = sigmoid_by_size(gate)
    opened = gate * s
    dopened = dhidden * up
    ds = dopened * gate
    return dopened * s + ds * s * (1 - s), opened * dhidden


def product_by_loops(dhidden, gate, up):
    dgate, dup = np.empty(gate.shape), np.empty(gate.shape)
    for i in np.ndindex(gate.shape):
        s = 0.5 * (1 + math.tanh(gate[i] / 2))
        dup[i] = dhidden[i] * gate[i] * s
        dgate[i] = dhidden[i] * up[i] * (s + gate[i] * s * (1 - s))
    return dgate, dup


def product_as_lists(dhidden, gate, up):
    dgate, dup = product_by_loops(dhidden, gate, up)
    return dgate.tolist(), dup.tolist()


def product_from_outside_in(dhidden, gate, up):
    e = np.exp(-np.abs(gate))
    falling = np.where(gate < 0, 1, e) / (1 + e)
    dup = dhidden * (gate - gate * falling)
    return (dhidden * (1 - falling) + dup * falling) * up, dup


# swiglu_backward, with the cache of the listings


def backward_by_listing(dout, cache):
    x, params, gate, up, hidden = cache
    dgate, dup = product_by_listing(dout @ params["W_down"].T, gate, up)
    flat = (-1, x.shape[-1])
    grads = {
        "W_gate": x.reshape(flat).T @ dgate.reshape(-1, gate.shape[-1]),
        "W_up": x.reshape(flat).T @ dup.reshape(-1, gate.shape[-1]),
        "W_down": hidden.reshape(-1, gate.shape[-1]).T @ dout.reshape(flat),
    }
    return dgate @ params["W_gate"].T + dup @ params["W_up"].T, grads


def backward_by_einsum(dout, cache):
    x, params, gate, up, hidden = cache
    dgate, dup = product_by_einsum(np.einsum("...d,hd->...h", dout, params["W_down"]), gate, up)
    dx = np.einsum("...h,dh->...d", dgate, params["W_gate"])
    dx += np.einsum("...h,dh->...d", dup, params["W_up"])
    flat = [a.reshape(-1, a.shape[-1]) for a in (x, dgate, dup, hidden, dout)]
    return dx, {
        "W_down": np.einsum("th,td->hd", flat[3], flat[4]),
        "W_gate": np.einsum("td,th->dh", flat[0], flat[1]),
        "W_up": np.einsum("td,th->dh", flat[0], flat[2]),
        "seen": len(flat[0]),
    }


def backward_by_tokens(dout, cache):
    x, params, gate, up, hidden = cache
    grads = {name: np.zeros_like(matrix) for name, matrix in params.items()}
    dx = np.zeros_like(x)
    for t in np.ndindex(x.shape[:-1]):
        dhidden = params["W_down"] @ dout[t]
        dgate, dup = product_in_steps(dhidden, gate[t], up[t])
        grads["W_down"] += np.outer(hidden[t], dout[t])
        grads["W_gate"] += np.outer(x[t], dgate)
        grads["W_up"] += np.outer(x[t], dup)
        dx[t] = params["W_gate"] @ dgate + params["W_up"] @ dup
    return dx, grads


def backward_by_one_matrix(dout, cache):
    x, params, gate, up, hidden = cache
    both = np.concatenate([params["W_gate"], params["W_up"]], axis=1)
    dboth = np.concatenate(product_by_listing(dout @ params["W_down"].T, gate, up), axis=-1)
    flat = dboth.reshape(-1, dboth.shape[-1])
    dgate, dup = np.hsplit(x.reshape(-1, x.shape[-1]).T @ flat, 2)
    down = hidden.reshape(-1, hidden.shape[-1]).T @ dout.reshape(-1, dout.shape[-1])
    return dboth @ both.T, {"W_gate": dgate, "W_up": dup, "W_down": down}


def backward_from_x(dout, cache):
    x, params, *_ = cache
    _, fresh = forward_by_listing(x, params)
    return backward_by_listing(dout, fresh)


def backward_by_tensordot(dout, cache):
    x, params, gate, up, hidden = cache
    axes = list(range(x.ndim - 1))
    dgate, dup = product_by_listing(np.inner(dout, params["W_down"]), gate, up)
    grads = {}
    for name, left, right in (("W_up", x, dup), ("W_gate", x, dgate), ("W_down", hidden, dout)):
        grads[name] = np.tensordot(left, right, axes=(axes, axes))
    return np.inner(dgate, params["W_gate"]) + np.inner(dup, params["W_up"]), grads


# swiglu_near_zero


def near_zero_by_formula(x, params):
    return 0.5 * (x @ params["W_gate"]) * (x @ params["W_up"]) @ params["W_down"]


def near_zero_halved_last(x, params):
    return ((x @ params["W_gate"]) * (x @ params["W_up"])) @ params["W_down"] / 2


def near_zero_by_einsum(x, params):
    W = params
    return np.einsum("...i,...j,ik,jk,kl->...l", x, x, W["W_gate"], W["W_up"], W["W_down"]) / 2


def near_zero_by_quadratic_forms(x, params):
    A, B, C = params["W_gate"], params["W_up"], params["W_down"]
    forms = [(A * C[:, j]) @ B.T / 2 for j in range(C.shape[1])]
    return np.stack([np.sum(x @ M * x, axis=-1) for M in forms], axis=-1)


def near_zero_by_rows(x, params):
    if x.ndim > 1:
        return [near_zero_by_rows(row, params) for row in x]
    half = {**params, "W_gate": params["W_gate"] / 2}
    return (x @ half["W_gate"] * (x @ half["W_up"])) @ half["W_down"]


def near_zero_by_squares(x, params):
    """The product of two numbers is a difference of squares."""
    a, b = x @ (params["W_gate"] + params["W_up"]), x @ (params["W_gate"] - params["W_up"])
    return (a * a - b * b) @ params["W_down"] / 8


# swiglu_width


def width_by_ceil(d, multiple_of=256):
    return math.ceil(8 * d / 3 / multiple_of) * multiple_of


def width_as_in_llama(d, multiple_of=256):
    hidden = int(2 * (4 * d) / 3)
    return multiple_of * ((hidden + multiple_of - 1) // multiple_of)


def width_by_search(d, multiple_of=256):
    h = multiple_of
    while 3 * h < 8 * d:
        h += multiple_of
    return h


def width_by_remainder(d, multiple_of=256):
    h = Fraction(8 * d, 3)
    return int(h + -h % multiple_of)


def width_by_numpy(d, multiple_of=256):
    return np.ceil(np.array([8 * d / (3 * multiple_of)])) * multiple_of


def width_by_negative_floor(d, multiple_of=256):
    return float(-(-8 * d // (3 * multiple_of)) * multiple_of)


RIGHT = {
    "sigmoid": [
        sigmoid_by_tanh, sigmoid_by_size, sigmoid_by_parts, sigmoid_by_logaddexp,
        sigmoid_in_a_row, sigmoid_quietly, sigmoid_clipped,
    ],
    "silu": [
        silu_by_tanh, silu_by_size, silu_by_parts, silu_by_list, silu_by_quotient,
        silu_by_einsum, silu_as_half_and_odd_part,
    ],
    "silu_derivative": [
        slope_by_listing, slope_by_product_rule, slope_by_silu, slope_by_tanh,
        slope_by_complex_step, slope_by_two_sigmoids, slope_in_a_loop,
    ],
    "swiglu_forward": [
        forward_by_listing, forward_by_einsum, forward_by_one_matrix, forward_by_loops,
        forward_by_transposes, forward_with_noise,
    ],
    "gate_backward": [
        product_by_listing, product_by_einsum, product_in_steps, product_by_loops,
        product_as_lists, product_from_outside_in,
    ],
    "swiglu_backward": [
        backward_by_listing, backward_by_einsum, backward_by_tokens, backward_by_one_matrix,
        backward_from_x, backward_by_tensordot,
    ],
    "swiglu_near_zero": [
        near_zero_by_formula, near_zero_halved_last, near_zero_by_einsum,
        near_zero_by_quadratic_forms, near_zero_by_rows, near_zero_by_squares,
    ],
    "swiglu_width": [
        width_by_ceil, width_as_in_llama, width_by_search, width_by_remainder, width_by_numpy,
        width_by_negative_floor,
    ],
}  # fmt: skip
