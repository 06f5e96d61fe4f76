"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import numpy as np

from transformer_block.attention import (
    causal_self_attention_backward as attn_backward,
)
from transformer_block.attention import (
    causal_self_attention_forward as attn_forward,
)
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.gradcheck import STEP, gradient_check, numerical_gradient, relative_error
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward
from transformer_block.swiglu import swiglu_backward, swiglu_forward

# transformer_block_forward


def forward_reusing_the_name(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    x, norm1 = rmsnorm_forward(x, params["attn_norm"], eps)
    a, attn = attn_forward(x, params, n_heads, rope_base, positions)
    x = x + a
    residual = x
    x, norm2 = rmsnorm_forward(x, params["ffn_norm"], eps)
    f, ffn = swiglu_forward(x, params)
    return x + f, (norm1, attn, residual, norm2, ffn)


def forward_as_in_2017(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    x = x + attn_forward(x, params, n_heads, rope_base, positions)[0]
    x, _ = rmsnorm_forward(x, params["attn_norm"], eps)
    x = x + swiglu_forward(x, params)[0]
    return rmsnorm_forward(x, params["ffn_norm"], eps)


def forward_in_parallel(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    h1, _ = rmsnorm_forward(x, params["attn_norm"], eps)
    h2, _ = rmsnorm_forward(x, params["ffn_norm"], eps)
    a, _ = attn_forward(h1, params, n_heads, rope_base, positions)
    return x + a + swiglu_forward(h2, params)[0], None


def forward_without_the_first_residual(x, params, n_heads, rope_base=1e4, eps=1e-5, positions=None):
    h, _ = rmsnorm_forward(x, params["attn_norm"], eps)
    u, _ = attn_forward(h, params, n_heads, rope_base, positions)
    h, _ = rmsnorm_forward(u, params["ffn_norm"], eps)
    return u + swiglu_forward(h, params)[0], None


def forward_with_one_gain(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    def norm(rows):
        return rmsnorm_forward(rows, params["attn_norm"], eps)[0]

    u = x + attn_forward(norm(x), params, n_heads, rope_base, positions)[0]
    return u + swiglu_forward(norm(u), params)[0], None


def forward_deaf_to_eps(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    u = rmsnorm_forward(x, params["attn_norm"])[0]
    u = x + attn_forward(u, params, n_heads, rope_base, positions)[0]
    return u + swiglu_forward(rmsnorm_forward(u, params["ffn_norm"])[0], params)[0], None


def forward_deaf_to_positions(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    return transformer_block_forward(x, params, n_heads, rope_base, eps)


def forward_writing_into_x(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    h, _ = rmsnorm_forward(x, params["attn_norm"], eps)
    x += attn_forward(h, params, n_heads, rope_base, positions)[0]
    h, _ = rmsnorm_forward(x, params["ffn_norm"], eps)
    x += swiglu_forward(h, params)[0]
    return x, None


def forward_in_float64(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    wide = {name: weight.astype(float) for name, weight in params.items()}
    return transformer_block_forward(x.astype(float), wide, n_heads, rope_base, eps, positions)


def forward_without_a_cache(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    return transformer_block_forward(x, params, n_heads, rope_base, eps, positions)[0]


# transformer_block_backward


def backward_overwriting(dout, cache):
    """Each half overwrites dx where it should be added to."""
    norm1, attn, _, norm2, ffn = cache
    dx, grads = swiglu_backward(dout, ffn)
    dx, grads["ffn_norm"] = rmsnorm_backward(dx, norm2)
    dx, more = attn_backward(dx, attn)
    dx, grads["attn_norm"] = rmsnorm_backward(dx, norm1)
    return dx, grads | more


def backward_assigning_at_the_last_add(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dx, grads = swiglu_backward(dout, ffn)
    du, grads["ffn_norm"] = rmsnorm_backward(dx, norm2)
    dx, more = attn_backward(du, attn)
    dx, grads["attn_norm"] = rmsnorm_backward(dx, norm1)
    return du + dx, grads | more


def backward_of_the_released_kernel(dout, cache):
    """Add first, then send the sum through the norm."""
    norm1, attn, _, norm2, ffn = cache
    dnormed, grads = swiglu_backward(dout, ffn)
    du, grads["ffn_norm"] = rmsnorm_backward(dout + dnormed, norm2)
    dnormed, more = attn_backward(du, attn)
    dx, grads["attn_norm"] = rmsnorm_backward(du + dnormed, norm1)
    return dx, grads | more


def backward_with_dout_everywhere(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dnormed, grads = swiglu_backward(dout, ffn)
    second, grads["ffn_norm"] = rmsnorm_backward(dnormed, norm2)
    dnormed, more = attn_backward(dout, attn)
    first, grads["attn_norm"] = rmsnorm_backward(dnormed, norm1)
    return dout + second + first, grads | more


def backward_with_names_exchanged(dout, cache):
    dx, grads = transformer_block_backward(dout, cache)
    grads["attn_norm"], grads["ffn_norm"] = grads["ffn_norm"], grads["attn_norm"]
    return dx, grads


def backward_without_gains(dout, cache):
    dx, grads = transformer_block_backward(dout, cache)
    del grads["attn_norm"], grads["ffn_norm"]
    return dx, grads


def backward_writing_into_dout(dout, cache):
    norm1, attn, _, norm2, ffn = cache
    dnormed, grads = swiglu_backward(dout.copy(), ffn)
    branch, grads["ffn_norm"] = rmsnorm_backward(dnormed, norm2)
    dout += branch
    dnormed, more = attn_backward(dout.copy(), attn)
    branch, grads["attn_norm"] = rmsnorm_backward(dnormed, norm1)
    dout += branch
    return dout, grads | more


def backward_with_dx_alone(dout, cache):
    return transformer_block_backward(dout, cache)[0]


def backward_in_float64(dout, cache):
    dx, grads = transformer_block_backward(dout, cache)
    return dx.astype(float), grads


# numerical_gradient


def gradient_one_sided(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up = x.copy()
        up[i] += step
        found[i] = (f(up) - f(x)) / step
    return found


def gradient_one_sided_with_a_tiny_step(f, x, step=1e-12):
    return gradient_one_sided(f, x, 1e-12)


def gradient_in_the_dtype_of_x(f, x, step=STEP):
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        h = step * max(1, abs(float(x[i])))
        up, down = x.copy(), x.copy()
        up[i], down[i] = x[i] + h, x[i] - h
        found[i] = (f(up) - f(down)) / (2 * h)
    return found


def gradient_with_the_same_step_everywhere(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        found[i] = (f(up) - f(down)) / (2 * step)
    return found


def gradient_with_a_share_of_the_entry(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        h = step * abs(x[i])
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        found[i] = (f(up) - f(down)) / (2 * h)
    return found


def gradient_of_a_flat_copy(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found, flat = np.zeros(x.size), x.reshape(-1)
    for i in range(x.size):
        here, h = flat[i], step * max(1, abs(flat[i]))
        flat[i] = here + h
        above = f(x)
        flat[i] = here - h
        found[i] = (above - f(x)) / (2 * h)
        flat[i] = here
    return found.reshape(x.shape)


def gradient_deaf_to_step(f, x, step=STEP):
    return numerical_gradient(f, x)


def gradient_never_put_back(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        h = step * max(1, abs(x[i]))
        x[i] += h
        above = f(x)
        x[i] -= 2 * h
        found[i] = (above - f(x)) / (2 * h)
    return found


def gradient_moving_the_caller_s_array(f, x, step=STEP):
    if x.dtype != np.float64:
        return numerical_gradient(f, x, step)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        h = step * max(1, abs(x[i]))
        x[i] += h
        above = f(x)
        x[i] -= 2 * h
        below = f(x)
        x[i] += h
        found[i] = (above - below) / (2 * h)
    return found


def gradient_of_all_entries_at_once(f, x, step=STEP):
    return (f(x + step) - f(x - step)) / (2 * step) * np.ones(np.shape(x))


# relative_error


def error_without_a_divisor(a, b):
    return np.linalg.norm(a - b)


def error_zero_over_zero(a, b):
    return np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b))


def error_against_zero_with_a_floor(a, b):
    return np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b) + 1e-8)


def error_of_the_largest(a, b):
    return np.linalg.norm(a - b) / max(np.linalg.norm(a), np.linalg.norm(b), 1e-200)


def error_by_allclose(a, b):
    return 0.0 if np.allclose(a, b) else 1.0


def error_of_matrices(a, b):
    order = 2 if np.ndim(a) == 2 else None
    total = np.linalg.norm(a, order) + np.linalg.norm(b, order)
    return np.linalg.norm(a - b, order) / total if total else 0.0


def error_entry_by_entry(a, b):
    return np.nan_to_num(np.mean(np.abs(a - b) / (np.abs(a) + np.abs(b))))


# gradient_check


def check_all_in_one(loss, tensors, gradients, step=STEP):
    errors = gradient_check(loss, tensors, gradients, step)
    numeric = {
        n: numerical_gradient(lambda t, n=n: loss({**tensors, n: t}), tensors[n], step)
        for n in errors
    }
    a = np.concatenate([numeric[n].ravel() for n in errors])
    b = np.concatenate([gradients[n].ravel() for n in errors])
    return dict.fromkeys(errors, relative_error(a, b))


def check_pass_or_fail(loss, tensors, gradients, step=STEP):
    return {n: e < 1e-7 for n, e in gradient_check(loss, tensors, gradients, step).items()}


def check_within_a_tenth(loss, tensors, gradients, step=STEP):
    errors = gradient_check(loss, tensors, gradients, step)
    return {n: e if e > 0.1 else 0.0 for n, e in errors.items()}


def check_of_directions(loss, tensors, gradients, step=STEP):
    errors = {}
    for n, tensor in tensors.items():
        a = numerical_gradient(lambda t, n=n: loss({**tensors, n: t}), tensor, step)
        b = gradients[n]
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        errors[n] = 1 - np.sum(a * b) / lengths if lengths else float(np.any(a))
    return errors


def check_of_nothing(loss, tensors, gradients, step=STEP):
    return dict.fromkeys(tensors, 0.0)


def check_late_binding(loss, tensors, gradients, step=STEP):
    """Make all functions first: each then moves the tensor that the loop saw last."""
    functions = [lambda t: loss({**tensors, n: t}) for n in tensors]  # noqa: B023
    return {
        n: relative_error(numerical_gradient(f, tensors[n], step), gradients[n])
        for f, n in zip(functions, tensors, strict=True)
    }


def check_writing_into_tensors(loss, tensors, gradients, step=STEP):
    errors = {}
    for n in tensors:

        def f(t, n=n):
            tensors[n] = t
            return loss(tensors)

        errors[n] = relative_error(numerical_gradient(f, tensors[n], step), gradients[n])
    return errors


def check_deaf_to_step(loss, tensors, gradients, step=STEP):
    return gradient_check(loss, tensors, gradients)


# block_gradient_errors


def errors_of(loss_of, forward, backward, x, params, n_heads, dout):
    dx, grads = backward(dout, forward(x, params, n_heads)[1])
    return gradient_check(loss_of, {"x": x, **params}, {"x": dx, **grads})


def errors_with_a_plain_sum(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return np.sum(forward(t["x"], t, n_heads)[0])

    return errors_of(loss, forward, backward, x, params, n_heads, dout)


def errors_with_weights_that_stay(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return np.sum(dout * forward(t["x"], params, n_heads)[0])

    return errors_of(loss, forward, backward, x, params, n_heads, dout)


def errors_with_x_that_stays(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return np.sum(dout * forward(x, t, n_heads)[0])

    return errors_of(loss, forward, backward, x, params, n_heads, dout)


def errors_of_weights_alone(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return np.sum(dout * forward(x, t, n_heads)[0])

    _, grads = backward(dout, forward(x, params, n_heads)[1])
    return gradient_check(loss, params, grads)


def errors_of_the_library_s_own(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return np.sum(dout * forward(t["x"], t, n_heads)[0])

    return errors_of(loss, forward, transformer_block_backward, x, params, n_heads, dout)


def errors_with_squares(forward, backward, x, params, n_heads, dout):
    def loss(t):
        return 0.5 * np.sum((forward(t["x"], t, n_heads)[0] - dout) ** 2)

    return errors_of(loss, forward, backward, x, params, n_heads, dout)


# wrong_gradients

SHAPES = {
    "W_q": (3, 4), "W_k": (3, 2), "W_v": (3, 2), "W_o": (4, 3),
    "W_gate": (3, 2), "W_up": (3, 2), "W_down": (2, 3), "attn_norm": (3,), "ffn_norm": (3,),
}  # fmt: skip


def looked_at(backward, bound=1e-7, shared=True, ones=False, names=("x", *SHAPES)):
    rng = np.random.default_rng(5)
    shapes = SHAPES if shared else SHAPES | {"W_k": (3, 4), "W_v": (3, 4)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    if ones:
        params |= {"attn_norm": np.ones(3), "ffn_norm": np.ones(3)}
    x, dout = rng.normal(size=(2, 2, 3))

    def loss(t):
        return np.sum(dout * transformer_block_forward(t["x"], t, 2)[0])

    args = (transformer_block_forward, backward, x, params, 2, dout)
    return [n for n, error in errors_of(loss, *args).items() if error > bound and n in names]


def wrong_with_gains_of_one(backward):
    return looked_at(backward, ones=True)


def wrong_without_x(backward):
    return looked_at(backward, names=tuple(SHAPES))


def wrong_with_a_head_for_each(backward):
    return looked_at(backward, shared=False)


def wrong_with_a_loose_bound(backward):
    return looked_at(backward, bound=1e-4)


def wrong_with_a_bound_of_zero(backward):
    return looked_at(backward, bound=0.0)


def wrong_as_one_name(backward):
    return "".join(looked_at(backward))


def wrong_named_otherwise(backward):
    return [f"d{name}" for name in looked_at(backward)]


def gradient_row_by_row(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros(x.shape)
    for i in range(len(np.atleast_1d(x))):
        if x.ndim == 0:
            return (f(x + step) - f(x - step)) / (2 * step)
        above, below = x.copy(), x.copy()
        above[i] += step * (1 if x.ndim > 1 else max(1, abs(x[i])))
        below[i] -= step * (1 if x.ndim > 1 else max(1, abs(x[i])))
        found[i] = (f(above) - f(below)) / (np.max(above - below))
    return found


def gradient_over_the_short_step(f, x, step=STEP):
    x = np.array(x, dtype=float)
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[i] += step * max(1, abs(x[i]))
        below[i] -= step * max(1, abs(x[i]))
        found[i] = (f(above) - f(below)) / (2 * step)
    return found


def check_that_leaves_tensors_moved(loss, tensors, gradients, step=STEP):
    held, errors = dict(tensors), {}
    for name, tensor in tensors.items():

        def moved(t, name=name):
            held[name] = t
            return loss(held)

        errors[name] = relative_error(numerical_gradient(moved, tensor, step), gradients[name])
    return errors


WRONG = {
    "transformer_block_forward": [
        (forward_reusing_the_name, "stream_normalised"),
        (forward_as_in_2017, "post_norm"),
        (forward_in_parallel, "net_reads_x"),
        (forward_without_the_first_residual, "no_first_residual"),
        (forward_with_one_gain, "first_gain_twice"),
        (forward_deaf_to_eps, "eps_fixed"),
        (forward_deaf_to_positions, "positions_fixed"),
        (forward_writing_into_x, "writes_into_arguments"),
        (forward_in_float64, "dtype_leaks"),
        (forward_without_a_cache, None),
    ],
    "transformer_block_backward": [
        (backward_overwriting, "no_straight_way"),
        (backward_assigning_at_the_last_add, "last_straight_lost"),
        (backward_of_the_released_kernel, "norm_of_the_sum"),
        (backward_with_dout_everywhere, "attention_hears_dout"),
        (backward_with_names_exchanged, "gains_swapped"),
        (backward_without_gains, None),
        (backward_writing_into_dout, "writes_into_arguments"),
        (backward_with_dx_alone, None),
        (backward_in_float64, "dtype_leaks"),
    ],
    "numerical_gradient": [
        (gradient_one_sided, "one_sided"),
        (gradient_one_sided_with_a_tiny_step, None),
        (gradient_in_the_dtype_of_x, "cut_off"),
        (gradient_with_the_same_step_everywhere, "step_too_small"),
        (gradient_with_a_share_of_the_entry, None),
        (gradient_of_a_flat_copy, "copy_moved"),
        (gradient_deaf_to_step, "step_fixed"),
        (gradient_never_put_back, "left_moved"),
        (gradient_moving_the_caller_s_array, "writes_into_arguments"),
        (gradient_of_all_entries_at_once, "all_together"),
        (gradient_row_by_row, "rows_together"),
        (gradient_over_the_short_step, "step_divides"),
    ],
    "relative_error": [
        (error_without_a_divisor, "absolute"),
        (error_zero_over_zero, "nan_at_zero"),
        (error_against_zero_with_a_floor, "floor"),
        (error_of_the_largest, "over_larger"),
        (error_by_allclose, None),
        (error_of_matrices, "spectral"),
        (error_entry_by_entry, "entry_by_entry"),
    ],
    "gradient_check": [
        (check_all_in_one, "one_length"),
        (check_pass_or_fail, None),
        (check_within_a_tenth, "blind"),
        (check_of_directions, "blind"),
        (check_of_nothing, "blind"),
        (check_late_binding, None),
        (check_writing_into_tensors, None),
        (check_deaf_to_step, "step_lost"),
        (check_that_leaves_tensors_moved, "left_moved"),
    ],
    "block_gradient_errors": [
        (errors_with_a_plain_sum, "plain_sum"),
        (errors_with_weights_that_stay, "weights_unmoved"),
        (errors_with_x_that_stays, "input_unmoved"),
        (errors_of_weights_alone, None),
        (errors_of_the_library_s_own, "not_those"),
        (errors_with_squares, "half_squared_gap"),
    ],
    "wrong_gradients": [
        (wrong_with_gains_of_one, "missed"),
        (wrong_without_x, "missed"),
        (wrong_with_a_head_for_each, "missed"),
        (wrong_with_a_loose_bound, "missed"),
        (wrong_with_a_bound_of_zero, "false_alarm"),
        (wrong_as_one_name, None),
        (wrong_named_otherwise, None),
    ],
}
