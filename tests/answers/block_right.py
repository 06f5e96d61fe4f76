"""Right answers that look different: every one of them must pass every claim."""

import math
from types import SimpleNamespace

import numpy as np

from transformer_block import block, fast, gradcheck
from transformer_block.attention import (
    causal_self_attention_backward,
    causal_self_attention_forward,
)
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward
from transformer_block.rope import rope_angles
from transformer_block.swiglu import swiglu_backward, swiglu_forward

ATTENTION = ("W_q", "W_k", "W_v", "W_o")

# transformer_block_forward


def forward_step_by_step(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    h, c1 = rmsnorm_forward(x, params["attn_norm"], eps)
    a, c2 = causal_self_attention_forward(h, params, n_heads, rope_base, positions)
    u = x + a
    h, c3 = rmsnorm_forward(u, params["ffn_norm"], eps)
    f, c4 = swiglu_forward(h, params)
    return u + f, {"norms": (c1, c3), "attention": c2, "net": c4}


def forward_in_place_on_a_copy(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    stream = x.copy()
    h = rmsnorm_forward(stream, params["attn_norm"], eps)[0]
    stream += causal_self_attention_forward(h, params, n_heads, rope_base, positions)[0]
    h = rmsnorm_forward(stream, params["ffn_norm"], eps)[0]
    stream += swiglu_forward(h, params)[0]
    return stream, None


def forward_gains_folded_into_matrices(
    x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None
):
    first, second = params["attn_norm"][:, None], params["ffn_norm"][:, None]
    folded = {name: first * params[name] for name in ("W_q", "W_k", "W_v")}
    folded |= {name: second * params[name] for name in ("W_gate", "W_up")}
    folded |= {name: params[name] for name in ("W_o", "W_down")}
    one = np.ones(x.shape[-1], x.dtype)
    u = rmsnorm_forward(x, one, eps)[0]
    u = x + causal_self_attention_forward(u, folded, n_heads, rope_base, positions)[0]
    return u + swiglu_forward(rmsnorm_forward(u, one, eps)[0], folded)[0], [x, u]


def forward_by_sequence(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    if x.ndim > 2:
        rest = (params, n_heads, rope_base, eps, positions)
        outs = [forward_by_sequence(one, *rest)[0] for one in x]
        return np.stack(outs), SimpleNamespace(x=x)
    return forward_step_by_step(x, params, n_heads, rope_base, eps, positions)


def forward_from_scratch(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    """Every part written out; the pairs of RoPE as complex numbers."""

    def norm(rows, gain):
        root = np.sqrt(np.einsum("...d,...d->...", rows, rows)[..., None] / rows.shape[-1] + eps)
        return rows / root * gain

    def heads(rows, count):
        return np.moveaxis(rows.reshape(*rows.shape[:-1], count, -1), -2, -3)

    def turned(rows):
        z = rows[..., ::2] + 1j * rows[..., 1::2]
        places = np.arange(rows.shape[-2]) if positions is None else positions
        z = z * np.exp(1j * rope_angles(places, rows.shape[-1], rope_base))
        return np.stack([z.real, z.imag], axis=-1).reshape(rows.shape)

    n = norm(x, params["attn_norm"])
    K = params["W_q"].shape[1] // n_heads
    n_kv = params["W_k"].shape[1] // K
    q, k = turned(heads(n @ params["W_q"], n_heads)), turned(heads(n @ params["W_k"], n_kv))
    k, v = (np.repeat(t, n_heads // n_kv, axis=-3) for t in (k, heads(n @ params["W_v"], n_kv)))
    e = np.exp(np.einsum("...tk,...sk->...ts", q, k) / math.sqrt(K)) * np.tri(x.shape[-2])
    mixed = np.moveaxis(e / e.sum(-1, keepdims=True) @ v, -3, -2)
    u = x + mixed.reshape(*x.shape[:-1], -1) @ params["W_o"]
    n = norm(u, params["ffn_norm"])
    gate = n @ params["W_gate"]
    out = u + (gate / (1 + np.exp(-gate)) * (n @ params["W_up"])) @ params["W_down"]
    return out.astype(x.dtype), None


def forward_with_a_helper(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    print("a block of width", x.shape[-1])

    def half(rows, gain, sublayer, *how):
        normed, norm = rmsnorm_forward(rows, params[gain], eps)
        write, cache = sublayer(normed, params, *how)
        return rows + write, (norm, cache)

    how = (n_heads, rope_base, positions)
    u, first = half(x, "attn_norm", causal_self_attention_forward, *how)
    out, second = half(u, "ffn_norm", swiglu_forward)
    return [out, (first, second)]


# transformer_block_backward


def backward_step_by_step(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dh, grads = swiglu_backward(dout, ffn)
    dh, d2 = rmsnorm_backward(dh, norm2)
    du = dout + dh
    dh, more = causal_self_attention_backward(du, attn)
    dh, d1 = rmsnorm_backward(dh, norm1)
    grads.update(more, attn_norm=d1, ffn_norm=d2)
    return du + dh, grads


def backward_in_place_on_a_copy(dout, cache):
    d = np.array(dout)
    grads = {}
    halves = (
        ("ffn_norm", cache[3], swiglu_backward, cache[4]),
        ("attn_norm", cache[0], causal_self_attention_backward, cache[1]),
    )
    for gain, norm, sublayer, inner in halves:
        dnormed, found = sublayer(d, inner)
        branch, found[gain] = rmsnorm_backward(dnormed, norm)
        d += branch
        grads |= found
    return d, grads


def backward_by_the_fast_block(dout, cache):
    return fast.fast_block_backward(dout, cache)


def backward_linear_in_parts(dout, cache):
    """The straight way and the branch are each sent on alone, and added at the very end."""

    def first_half(d):
        dnormed, grads = causal_self_attention_backward(d, cache[1])
        branch, grads["attn_norm"] = rmsnorm_backward(dnormed, cache[0])
        return branch, grads

    dnormed, grads = swiglu_backward(dout, cache[4])
    second, grads["ffn_norm"] = rmsnorm_backward(dnormed, cache[3])
    (a, ga), (b, gb) = first_half(dout), first_half(second)
    return dout + second + a + b, grads | {name: ga[name] + gb[name] for name in ga}


def backward_by_sequence(dout, cache):
    if dout.ndim == 2:
        return backward_step_by_step(dout, cache)
    x, attn_norm, *_ = cache[0]
    params = cache[4][1]
    weights = {**cache[1][1], **params, "attn_norm": attn_norm, "ffn_norm": cache[3][1]}
    n_heads = cache[1][3][0].shape[-3]
    dx, total = np.empty_like(x), None
    for i in np.ndindex(x.shape[:-2]):
        inner = block.transformer_block_forward(x[i], weights, n_heads)[1]
        dx[i], grads = backward_step_by_step(dout[i], inner)
        total = grads if total is None else {n: total[n] + grads[n] for n in grads}
    return dx, total


def backward_with_the_norm_written_out(dout, cache):
    def norm_back(dnormed, norm):
        x, gain, r, z = norm
        dz = dnormed * gain
        dgain = np.einsum("nd,nd->d", *(t.reshape(-1, x.shape[-1]) for t in (dnormed, z)))
        return r * (dz - z * np.mean(dz * z, axis=-1, keepdims=True)), dgain

    dnormed, grads = swiglu_backward(dout, cache[4])
    branch, grads["ffn_norm"] = norm_back(dnormed, cache[3])
    du = np.add(dout, branch)
    dnormed, more = causal_self_attention_backward(du, cache[1])
    branch, more["attn_norm"] = norm_back(dnormed, cache[0])
    return [np.add(branch, du), {**more, **grads, "a note": "nothing is forgotten"}]


# numerical_gradient

STEP = gradcheck.STEP


def gradient_of_the_library(f, x, step=STEP):
    return gradcheck.numerical_gradient(f, x, step)


def gradient_in_a_flat_loop(f, x, step=STEP):
    flat = np.array(x, dtype=float).ravel()
    found = np.zeros(flat.size)
    for i in range(flat.size):
        h = step * max(1, abs(flat[i]))
        for sign in (1, -1):
            moved = flat.copy()
            moved[i] += sign * h
            found[i] += sign * f(moved.reshape(np.shape(x))) / (2 * h)
    return found.reshape(np.shape(x))


def gradient_put_back(f, x, step=STEP):
    point = np.ascontiguousarray(x, dtype=np.float64).copy().reshape(np.shape(x))
    found = np.zeros_like(point)
    walk = np.nditer(point, flags=["multi_index"])
    for entry in walk:
        i, here = walk.multi_index, float(entry)
        h = step * (1 + abs(here)) / 1.0 if abs(here) > 1 else step
        point[i] = here + h
        above = f(point)
        point[i] = here - h
        below = f(point)
        point[i] = here
        found[i] = (above - below) / (2 * h)
    return found


def gradient_by_unit_arrays(f, x, step=STEP):
    x = np.asarray(x, dtype=np.float64)
    found = []
    for i in range(x.size):
        unit = np.zeros(x.size)
        unit[i] = step * max(1.0, abs(x.reshape(-1)[i]))
        unit = unit.reshape(x.shape)
        found.append((f(x + unit) - f(x - unit)) / (2 * unit.sum()))
    return np.array(found).reshape(x.shape)


def gradient_as_lists(f, x, step=STEP):
    x = np.array(x, dtype=float)
    if x.ndim == 0:
        h = step * max(1.0, abs(x))
        return (f(x + h) - f(x - h)) / (2 * h)
    rows = []
    for i in range(len(x)):

        def inner(row, i=i):
            whole = x.copy()
            whole[i] = row
            return f(whole)

        rows.append(gradient_as_lists(inner, x[i], step))
    return rows


def gradient_with_the_walked_distance(f, x, step=STEP):
    print("evaluations:", 2 * np.size(x))
    point = np.array(x, dtype=np.float64)
    found = np.empty(point.shape)
    for i, here in np.ndenumerate(point.copy()):
        ends = [here + sign * step * max(1.0, abs(here)) for sign in (-1, 1)]
        values = []
        for end in ends:
            point[i] = end
            values.append(f(point.copy()))
        point[i] = here
        found[i] = np.diff(values)[0] / np.diff(ends)[0]
    return found


# relative_error


def error_of_the_library(a, b):
    return gradcheck.relative_error(a, b)


def error_by_norm(a, b):
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return np.linalg.norm(np.subtract(a, b)) / total if total > 0 else 0.0


def error_by_dot(a, b):
    a, b = np.ravel(a), np.ravel(b)
    c = a - b
    total = math.sqrt(a @ a) + math.sqrt(b @ b)
    return 0 if total == 0 else math.sqrt(c @ c) / total


def error_by_loop(a, b):
    squares = [0.0, 0.0, 0.0]
    for p, q in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
        squares = [s + t * t for s, t in zip(squares, (p - q, p, q), strict=True)]
    gap, one, two = map(math.sqrt, squares)
    return np.array(gap / (one + two) if gap else 0.0)


def error_where_not_equal(a, b):
    if np.array_equal(a, b):
        return 0.0
    size = np.sqrt(np.square(a).sum()) + np.sqrt(np.square(b).sum())
    return np.float64(np.sqrt(np.square(a - b).sum()) / size)


def error_with_a_tiny_floor(a, b):
    lengths = [float(np.sqrt(np.vdot(t, t))) for t in (a - b, a, b)]
    return [lengths[0] / max(lengths[1] + lengths[2], 1e-200)]


# gradient_check


def check_of_the_library(loss, tensors, gradients, step=STEP):
    return gradcheck.gradient_check(loss, tensors, gradients, step)


def check_in_a_loop(loss, tensors, gradients, step=STEP):
    errors = {}
    for name in tensors:

        def f(t, name=name):
            return loss({**tensors, name: t})

        numeric = gradcheck.numerical_gradient(f, tensors[name], step)
        errors[name] = gradcheck.relative_error(numeric, gradients[name])
    return errors


def check_on_a_copied_dict(loss, tensors, gradients, step=STEP):
    errors = dict.fromkeys(gradients, 0.0)
    for name in errors:
        mine = dict(tensors)

        def f(t, name=name, mine=mine):
            mine[name] = t
            return loss(mine)

        errors[name] = error_by_dot(gradient_put_back(f, tensors[name], step), gradients[name])
    return errors


def check_with_fixed_steps(loss, tensors, gradients, step=STEP):
    errors = {}
    for name, tensor in tensors.items():
        numeric = np.zeros(tensor.shape)
        for i in np.ndindex(tensor.shape):
            values = []
            for move in (step, -step):
                moved = tensor.copy()
                moved[i] += move * max(1.0, abs(tensor[i]))
                values.append(loss({**tensors, name: moved}))
            numeric[i] = (values[0] - values[1]) / (2 * step * max(1.0, abs(tensor[i])))
        errors[name] = np.array([error_by_norm(numeric, gradients[name])])
    return errors


def check_by_pairs(loss, tensors, gradients, step=STEP):
    pairs = [
        (name, gradient_by_unit_arrays(lambda t, n=name: loss(tensors | {n: t}), tensor, step))
        for name, tensor in reversed(tensors.items())
    ]
    return {name: error_by_loop(numeric, gradients[name]) for name, numeric in pairs}


def check_with_a_report(loss, tensors, gradients, step=STEP):
    errors = check_in_a_loop(loss, tensors, gradients, step)
    for name, error in errors.items():
        print(f"{name:10} {error:.1e}", "ok" if error < 1e-7 else "WRONG")
    return errors


# block_gradient_errors


def errors_by_gradient_check(forward, backward, x, params, n_heads, dout):
    dx, grads = backward(dout, forward(x, params, n_heads)[1])

    def loss(t):
        return np.sum(dout * forward(t["x"], t, n_heads)[0])

    return gradcheck.gradient_check(loss, {"x": x, **params}, {"x": dx, **grads})


def errors_with_x_apart(forward, backward, x, params, n_heads, dout):
    _, cache = forward(x, params, n_heads)
    dx, grads = backward(dout, cache)
    errors = gradcheck.gradient_check(
        lambda p: float((dout * forward(x, p, n_heads)[0]).sum()), params, grads
    )
    numeric = gradcheck.numerical_gradient(
        lambda t: float((dout * forward(t, params, n_heads)[0]).sum()), x
    )
    return errors | {"x": gradcheck.relative_error(numeric, dx)}


def errors_with_dot(forward, backward, x, params, n_heads, dout):
    given = backward(dout, forward(x, params, n_heads)[1])
    given = {**given[1], "x": given[0]}

    def f(t, name):
        p = {**params, name: t}
        return np.vdot(dout, forward(t if name == "x" else x, p, n_heads)[0])

    return {
        name: error_by_dot(
            gradient_in_a_flat_loop(lambda t, n=name: f(t, n), {**params, "x": x}[name]),
            given[name],
        )
        for name in given
    }


def errors_with_a_larger_step(forward, backward, x, params, n_heads, dout):
    tensors = params | {"x": x}

    def loss(t):
        return np.einsum("td,td->", *(a.reshape(-1, 3) for a in (dout, forward(t["x"], t, 2)[0])))

    dx, grads = backward(dout, forward(x, params, n_heads)[1])
    return check_in_a_loop(loss, tensors, grads | {"x": dx}, 2e-5)


def errors_from_the_change_of_the_output(forward, backward, x, params, n_heads, dout):
    """The loss is taken from the output at the point itself: a constant changes no slope."""
    out, cache = forward(x, params, n_heads)
    dx, grads = backward(dout, cache)

    def loss(t):
        return float(np.sum((forward(t["x"], t, n_heads)[0] - out) * dout))

    return check_on_a_copied_dict(loss, {**params, "x": x}, {**grads, "x": dx})


def errors_with_a_report(forward, backward, x, params, n_heads, dout):
    errors = errors_by_gradient_check(forward, backward, x, params, n_heads, dout)
    print(*(f"{name} {error:.0e}" for name, error in errors.items()))
    return dict(sorted(errors.items()))


# wrong_gradients


def careful(backward, bound=1e-7, T=3):
    rng = np.random.default_rng(3)
    d, h, K = 3, 2, 2
    shapes = {"W_q": (d, 2 * K), "W_k": (d, K), "W_v": (d, K), "W_o": (2 * K, d)}
    shapes |= {"W_gate": (d, h), "W_up": (d, h), "W_down": (h, d)}
    shapes |= {"attn_norm": (d,), "ffn_norm": (d,)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, dout = rng.normal(size=(2, T, d))
    errors = errors_by_gradient_check(block.transformer_block_forward, backward, x, params, 2, dout)
    return [name for name, error in errors.items() if error > bound]


def wrong_by_a_careful_check(backward):
    return careful(backward)


def wrong_as_a_set(backward):
    return set(careful(backward, 3e-8))


def wrong_as_a_tuple(backward):
    return tuple(careful(backward, T=2))


def wrong_as_an_array(backward):
    return np.array(careful(backward), dtype="U12")


def wrong_as_a_dict(backward):
    return dict.fromkeys(careful(backward, 2e-7), "wrong")


def wrong_with_a_report(backward):
    names = careful(backward)
    print("wrong:", ", ".join(names) or "nothing")
    return names


RIGHT = {
    "transformer_block_forward": [
        block.transformer_block_forward,
        fast.fast_block_forward,
        forward_step_by_step,
        forward_in_place_on_a_copy,
        forward_gains_folded_into_matrices,
        forward_by_sequence,
        forward_from_scratch,
        forward_with_a_helper,
    ],
    "transformer_block_backward": [
        block.transformer_block_backward,
        backward_step_by_step,
        backward_in_place_on_a_copy,
        backward_by_the_fast_block,
        backward_linear_in_parts,
        backward_by_sequence,
        backward_with_the_norm_written_out,
    ],
    "numerical_gradient": [
        gradient_of_the_library,
        gradient_in_a_flat_loop,
        gradient_put_back,
        gradient_by_unit_arrays,
        gradient_as_lists,
        gradient_with_the_walked_distance,
    ],
    "relative_error": [
        error_of_the_library,
        error_by_norm,
        error_by_dot,
        error_by_loop,
        error_where_not_equal,
        error_with_a_tiny_floor,
    ],
    "gradient_check": [
        check_of_the_library,
        check_in_a_loop,
        check_on_a_copied_dict,
        check_with_fixed_steps,
        check_by_pairs,
        check_with_a_report,
    ],
    "block_gradient_errors": [
        errors_by_gradient_check,
        errors_with_x_apart,
        errors_with_dot,
        errors_with_a_larger_step,
        errors_from_the_change_of_the_output,
        errors_with_a_report,
    ],
    "wrong_gradients": [
        wrong_by_a_careful_check,
        wrong_as_a_set,
        wrong_as_a_tuple,
        wrong_as_an_array,
        wrong_as_a_dict,
        wrong_with_a_report,
    ],
}
