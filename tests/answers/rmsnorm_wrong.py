"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import numpy as np


def mean_square(x):
    return np.mean(x**2, axis=-1, keepdims=True)


def f32(x):
    return x.astype(np.result_type(x, np.float32))


def forward(x, weight, eps, root):
    """Finish a forward pass from the root that the row is divided by."""
    y = f32(x)
    out = y / root(y, eps) * weight
    return out.astype(x.dtype), (x, weight, eps)


def eps_outside(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y)) + e)


def eps_outside_as_length(x, weight, eps=1e-5):
    rms = np.linalg.norm(f32(x), axis=-1, keepdims=True) / np.sqrt(x.shape[-1])
    return (f32(x) * weight / (rms + eps)).astype(x.dtype), None


def no_eps(x, weight, eps=1e-5):
    with np.errstate(all="ignore"):
        return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y)))


def always_the_same_eps(x, weight, eps=1e-5):
    return forward(x, weight, 1e-5, lambda y, e: np.sqrt(mean_square(y) + e))


def like_layernorm(x, weight, eps=1e-5):
    y = f32(x) - f32(x).mean(axis=-1, keepdims=True)
    return (y / np.sqrt(y.var(axis=-1, keepdims=True) + eps) * weight).astype(x.dtype), None


def by_std(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt(y.std(-1, keepdims=True) ** 2 + e))


def root_of_rms(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: (mean_square(y) + e) ** 0.25)


def no_root(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: mean_square(y) + e)


def over_time(x, weight, eps=1e-5):
    if x.ndim == 1:
        return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y) + e))
    return forward(x, weight, eps, lambda y, e: np.sqrt(np.mean(y**2, -2, keepdims=True) + e))


def one_rms_for_all(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt((y**2).mean() + e))


def unit_length(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt((y**2).sum(-1, keepdims=True) + e))


def without_gain(x, weight, eps=1e-5):
    return forward(x, np.ones_like(weight), eps, lambda y, e: np.sqrt(mean_square(y) + e))


def squares_in_half(x, weight, eps=1e-5):
    with np.errstate(all="ignore"):
        r = 1 / np.sqrt(mean_square(x) + x.dtype.type(eps))
        return (x * r * weight).astype(x.dtype), None


def leaks_float64(x, weight, eps=1e-5):
    y = x.astype(np.float64)
    return y / np.sqrt(mean_square(y) + eps) * weight, None


def in_place(x, weight, eps=1e-5):
    root = np.sqrt(mean_square(f32(x)) + eps)
    x /= root.astype(x.dtype)
    return (x * weight).astype(x.dtype), None


REMEMBERED = []


def remembers(x, weight, eps=1e-5):
    REMEMBERED.append(1)
    return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y) + e) + len(REMEMBERED))


def width_of_the_example(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt(np.sum(y**2, -1, keepdims=True) / 4 + e))


def only_two_axes(x, weight, eps=1e-5):
    rows, width = x.shape
    return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y) + e))


def identity(x, weight, eps=1e-5):
    return x, None


def only_out(x, weight, eps=1e-5):
    return forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y) + e))[0]


def nothing(x, weight, eps=1e-5):
    forward(x, weight, eps, lambda y, e: np.sqrt(mean_square(y) + e))


def in_words(x, weight, eps=1e-5):
    return "one", "two"


def slope_by_differences(x, eps=1e-5):
    step = 1e-6
    inv = [1 / np.sqrt(np.mean((x + s * np.eye(x.size)) ** 2, -1) + eps) for s in (step, -step)]
    return (inv[0] - inv[1]) / (2 * step)


def slope_of_mean_square(x, eps=1e-5):
    return 2 * x / x.size


def jacobian_row(x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x) + eps)
    return r - r**3 * x * x / x.size


def vjp_of_one_c(dz, x, eps=1e-5):
    r = (mean_square(x) + eps) ** -0.5
    return r * dz - x * r**3 * (dz * x).sum() / x.shape[-1]


def vjp_of_x_alone(dz, x, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    c = np.sum(x, axis=-1, keepdims=True)
    return r * dz - x * r**3 * c / x.shape[-1]


def vjp_without_second(dz, x, eps=1e-5):
    return dz / np.sqrt(mean_square(x) + eps)


def vjp_in_float32(dz, x, eps=1e-5):
    dz, x = dz.astype(np.float32), x.astype(np.float32)
    r = 1 / np.sqrt(mean_square(x) + np.float32(eps))
    return r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True)


def finish(dz, x, r):
    return r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True)


def tokens(a):
    return a.reshape(-1, a.shape[-1]).sum(axis=0)


def backward_no_rank_one(dout, cache):
    x, weight, r, z = cache
    return dout * weight * r, tokens(dout * z)


def backward_no_gain(dout, cache):
    x, weight, r, z = cache
    return finish(dout, x, r), tokens(dout * z)


def backward_gain_at_the_end(dout, cache):
    x, weight, r, z = cache
    return finish(dout, x, r) * weight, tokens(dout * z)


def backward_weight_not_summed(dout, cache):
    x, weight, r, z = cache
    return finish(dout * weight, x, r), dout * z


def backward_weight_from_x(dout, cache):
    x, weight, r, z = cache
    return finish(dout * weight, x, r), tokens(dout * x)


def backward_weight_averaged(dout, cache):
    x, weight, r, z = cache
    return finish(dout * weight, x, r), (dout * z).reshape(-1, x.shape[-1]).mean(axis=0)


def backward_swapped(dout, cache):
    x, weight, r, z = cache
    return tokens(dout * z), finish(dout * weight, x, r)


def backward_in_place(dout, cache):
    x, weight, r, z = cache
    dweight = tokens(dout * z)
    dout *= weight
    return finish(dout, x, r), dweight


def layer_is_rms(x, weight, bias, eps=1e-5):
    return x / np.sqrt(mean_square(x) + eps) * weight + bias


def layer_without_bias(x, weight, bias, eps=1e-5):
    y = x - x.mean(-1, keepdims=True)
    return y / np.sqrt(mean_square(y) + eps) * weight


def layer_with_default_eps(x, weight, bias, eps=1e-5):
    y = x - x.mean(-1, keepdims=True)
    return y / np.sqrt(mean_square(y) + 1e-5) * weight + bias


def like_torch_normalize(x, weight, eps=1e-5):
    rms = np.sqrt((x * x).mean(axis=-1, keepdims=True))
    return weight * x / np.maximum(rms, eps), None


def eps_added_to_the_result(x, weight, eps=1e-5):
    with np.errstate(invalid="ignore"):
        return weight * x / np.sqrt((x * x).mean(axis=-1, keepdims=True)) + eps, None


WRONG = {
    "rmsnorm_forward": [
        (eps_outside, "eps_outside"),
        (eps_outside_as_length, "eps_outside"),
        (no_eps, "eps_forgotten"),
        (always_the_same_eps, "eps_fixed"),
        (like_layernorm, "centred"),
        (by_std, "variance"),
        (root_of_rms, "root_twice"),
        (no_root, "root_missing"),
        (over_time, "token_axis"),
        (one_rms_for_all, "all_tokens"),
        (unit_length, "sum_for_mean"),
        (without_gain, "gain_missing"),
        (squares_in_half, "half_precision"),
        (leaks_float64, "dtype_leaks"),
        (in_place, "writes_into_arguments"),
        (remembers, None),
        (width_of_the_example, "example_written_in"),
        (only_two_axes, None),
        (identity, None),
        (only_out, None),
        (nothing, None),
        (in_words, None),
        (like_torch_normalize, "eps_as_least_rms"),
        (eps_added_to_the_result, None),
    ],
    "half_rms": [
        (lambda eps: np.sqrt(eps), "knee"),
        (lambda eps: eps / 3, "square_left"),
        (lambda eps: eps, "outside"),
        (lambda eps: 0.5, None),
        (lambda eps: "the root of a third", None),
    ],
    "inv_rms_gradient": [
        (slope_by_differences, None),
        (slope_of_mean_square, None),
        (lambda x, eps: -x / (np.mean(x * x) + eps) / x.size, "power_two"),
        (lambda x, eps: x * (np.mean(x * x) + eps) ** -1.5 / x.size, "sign"),
        (lambda x, eps: -x * (np.mean(x * x) + eps) ** -1.5, "width_forgotten"),
        (lambda x, eps: -0.5 * x * (np.mean(x * x) + eps) ** -1.5 / x.size, "two_forgotten"),
        (lambda x, eps: -0.5 * (np.mean(x * x) + eps) ** -1.5 * np.ones(x.size), None),
    ],
    "normalize_jacobian": [
        (jacobian_row, None),
        (lambda x, eps: np.eye(x.size) * (np.mean(x * x) + eps) ** -0.5, "only_diagonal"),
        (
            lambda x, eps: -np.outer(x, x) * (np.mean(x * x) + eps) ** -1.5 / x.size,
            "product_rule_half",
        ),
        (
            lambda x, eps: (
                np.eye(x.size) * (np.mean(x * x) + eps) ** -0.5
                + np.outer(x, x) * (np.mean(x * x) + eps) ** -1.5 / x.size
            ),
            "sign",
        ),
    ],
    "normalize_vjp": [
        (vjp_of_one_c, "summed_over_rows"),
        (vjp_without_second, "no_rank_one"),
        (vjp_in_float32, "nearly_right"),
        (vjp_of_x_alone, "c_of_x_alone"),
        (lambda dz, x, eps: dz, None),
    ],
    "rmsnorm_backward": [
        (backward_no_rank_one, "no_rank_one"),
        (backward_no_gain, "gain_missing"),
        (backward_gain_at_the_end, "gain_last"),
        (backward_weight_not_summed, "dweight_not_summed"),
        (backward_weight_from_x, "dweight_from_x"),
        (backward_weight_averaged, "dweight_mean"),
        (backward_swapped, None),
        (backward_in_place, "writes_into_arguments"),
        (lambda dout, cache: (dout, cache[1]), None),
    ],
    "layernorm_from_rmsnorm": [
        (layer_is_rms, "not_centred"),
        (layer_without_bias, "bias_missing"),
        (layer_with_default_eps, "eps_not_passed"),
        (lambda x, weight, bias, eps: x, None),
    ],
}
