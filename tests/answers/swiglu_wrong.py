"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import math

import numpy as np


def logistic(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def swish(x):
    return x * logistic(x)


def swish_slope(x):
    s = logistic(x)
    return s + x * s * (1 - s)


# sigmoid


def sigmoid_plain(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_where(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


def sigmoid_as_ratio(x):
    e = np.exp(x)
    return e / (e + 1)


def sigmoid_falling(x):
    return logistic(-x)


def sigmoid_one_number(x):
    return 1 / (1 + math.exp(-x))


def sigmoid_wide(x):
    return logistic(np.asarray(x, dtype=np.float64))


def sigmoid_clipped_early(x):
    return logistic(np.clip(x, -6, 6))


# silu


def silu_plain(x):
    return x / (1 + np.exp(-x))


def silu_of_ratio(x):
    return x * np.exp(x) / (1 + np.exp(x))


def silu_right_side_only(x):
    return np.maximum(x, 0) * logistic(x)


def silu_of_size(x):
    return x * logistic(np.abs(x))


def hard_swish(x):
    return x * np.clip((x + 3) / 6, 0, 1)


# silu_derivative


def slope_by_differences(x):
    step = 1e-5
    return (swish(x + step) - swish(x - step)) / (2 * step)


def slope_by_better_differences(x):
    h = 1e-3
    two = swish(x + 2 * h) - swish(x - 2 * h)
    return (8 * (swish(x + h) - swish(x - h)) - two) / (12 * h)


def slope_in_float32(x):
    return swish_slope(x.astype(np.float32))


def slope_by_quotient_rule(x):
    e = np.exp(-x)
    with np.errstate(all="ignore"):
        return ((1 + e) + x * e) / (1 + e) ** 2


# swiglu_forward


def net(x, params, hidden):
    gate, up = x @ params["W_gate"], x @ params["W_up"]
    made = hidden(gate, up)
    return made @ params["W_down"], (x, params, gate, up, made)


def gate_and_up_swapped(x, params):
    return net(x, params, lambda g, u: swish(u) * g)


def classic_with_silu(x, params):
    return swish(x @ params["W_gate"]) @ params["W_down"], None


def classic_with_up(x, params):
    return swish(x @ params["W_up"]) @ params["W_down"], None


def original_glu(x, params):
    return net(x, params, lambda g, u: logistic(g) * u)


def bilinear(x, params):
    return net(x, params, np.multiply)


def reglu(x, params):
    return net(x, params, lambda g, u: g.clip(0) * u)


def silu_at_the_end(x, params):
    return net(x, params, lambda g, u: swish(g * u))


def both_through_silu(x, params):
    return net(x, params, lambda g, u: swish(g) * swish(u))


def sum_of_branches(x, params):
    return net(x, params, lambda g, u: swish(g) + u)


def bad_silu_inside(x, params):
    return net(x, params, lambda g, u: g * logistic(abs(g)) * u)


def with_residual(x, params):
    out, cache = net(x, params, lambda g, u: swish(g) * u)
    return out + x, cache


def nan_when_open(x, params):
    with np.errstate(all="ignore"):
        return net(x, params, lambda g, u: silu_of_ratio(30 * g) / 30 * u)


def chained(x, params):
    gate = swish(x @ params["W_gate"])
    return gate @ params["W_up"] @ params["W_down"], None


def leaks_float64(x, params):
    wide = {name: matrix.astype(np.float64) for name, matrix in params.items()}
    return net(x, wide, lambda g, u: swish(g) * u)


def writes_into_weights(x, params):
    out, cache = net(x, params, lambda g, u: swish(g) * u)
    params["W_up"] *= 2
    return out, cache


def only_out(x, params):
    return net(x, params, lambda g, u: swish(g) * u)[0]


def three_features(x, params):
    narrow = {
        "W_gate": params["W_gate"][:, :3],
        "W_up": params["W_up"][:, :3],
        "W_down": params["W_down"][:3],
    }
    return net(x, narrow, lambda g, u: swish(g) * u)


def only_two_axes(x, params):
    T, d = x.shape
    return net(x, params, lambda g, u: swish(g) * u)


# gate_backward


def product_own_values(dhidden, gate, up):
    return dhidden * gate * swish_slope(gate), dhidden * swish(gate)


def product_without_slope(dhidden, gate, up):
    return dhidden * up, dhidden * swish(gate)


def product_raw_gate(dhidden, gate, up):
    return dhidden * up * swish_slope(gate), dhidden * gate


def product_turned_round(dhidden, gate, up):
    return dhidden * swish(gate), dhidden * up * swish_slope(gate)


def product_relu(dhidden, gate, up):
    return dhidden * up * np.where(gate > 0, 1, 0), dhidden * swish(gate)


def product_by_differences(dhidden, gate, up):
    return dhidden * up * slope_by_differences(gate), dhidden * swish(gate)


# swiglu_backward


def flat(a):
    return a.reshape(-1, a.shape[-1])


def finish(dout, cache, dgate, dup):
    x, params, gate, up, hidden = cache
    grads = {
        "W_gate": flat(x).T @ flat(dgate),
        "W_up": flat(x).T @ flat(dup),
        "W_down": flat(hidden).T @ flat(dout),
    }
    return dgate @ params["W_gate"].T + dup @ params["W_up"].T, grads


def two_paths(dout, cache):
    _, params, gate, up, _ = cache
    dhidden = dout @ params["W_down"].T
    return dhidden * up * swish_slope(gate), dhidden * swish(gate)


def right_backward(dout, cache):
    return finish(dout, cache, *two_paths(dout, cache))


def backward_without_slope(dout, cache):
    _, params, _, up, _ = cache
    return finish(dout, cache, dout @ params["W_down"].T * up, two_paths(dout, cache)[1])


def backward_half_a_slope(dout, cache):
    _, params, gate, up, _ = cache
    dgate = dout @ params["W_down"].T * up * logistic(gate)
    return finish(dout, cache, dgate, two_paths(dout, cache)[1])


def backward_of_swapped_net(dout, cache):
    x, params, gate, up, hidden = cache
    dhidden = dout @ params["W_down"].T
    return finish(dout, cache, dhidden * swish(up), dhidden * gate * swish_slope(up))


def backward_overwrites_dx(dout, cache):
    dgate, dup = two_paths(dout, cache)
    dx = dgate @ cache[1]["W_gate"].T
    dx = dup @ cache[1]["W_up"].T
    return dx, right_backward(dout, cache)[1]


def backward_forgets_up(dout, cache):
    dgate, dup = two_paths(dout, cache)
    return dgate @ cache[1]["W_gate"].T, right_backward(dout, cache)[1]


def backward_labels_crossed(dout, cache):
    dx, grads = right_backward(dout, cache)
    return dx, {**grads, "W_gate": grads["W_up"], "W_up": grads["W_gate"]}


def backward_averages(dout, cache):
    dx, grads = right_backward(dout, cache)
    return dx, {name: g / (dx.size // dx.shape[-1]) for name, g in grads.items()}


def backward_down_from_gate(dout, cache):
    dx, grads = right_backward(dout, cache)
    return dx, {**grads, "W_down": flat(swish(cache[2])).T @ flat(dout)}


def backward_d_names(dout, cache):
    dx, grads = right_backward(dout, cache)
    return dx, {f"d{name}": g for name, g in grads.items()}


def backward_as_tuple(dout, cache):
    dx, grads = right_backward(dout, cache)
    return (dx, *grads.values())


def backward_in_place(dout, cache):
    result = right_backward(dout, cache)
    cache[2][...] = 0
    return result


def backward_two_axes(dout, cache):
    x, params, gate, up, hidden = cache
    dgate, dup = two_paths(dout, cache)
    dx = dgate @ params["W_gate"].T + dup @ params["W_up"].T
    return dx, {"W_gate": x.T @ dgate, "W_up": x.T @ dup, "W_down": hidden.T @ dout}


def backward_by_differences(dout, cache):
    x, params, *_ = cache
    arrays = {"x": x, **params}

    def loss(changed):
        given = {**arrays, **changed}
        hidden = swish(given["x"] @ given["W_gate"]) * (given["x"] @ given["W_up"])
        return float(np.sum(dout * (hidden @ given["W_down"])))

    slopes = {}
    for name, array in arrays.items():
        slopes[name] = np.empty_like(array)
        for i in np.ndindex(array.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = array.copy()
                moved[i] += step
                ends.append(loss({name: moved}))
            slopes[name][i] = (ends[0] - ends[1]) / 2e-5
    return slopes.pop("x"), slopes


def sigmoid_of_one_branch(x):
    return 1 / (1 + np.exp(-np.abs(x)))


def slope_of_half_a_derivative(x):
    s = logistic(x)
    return s + x * (1 - s)


def slope_with_plus(x):
    s = logistic(x)
    return s * (1 + x * (1 + s))


def slope_bracketed_early(x):
    s = logistic(x)
    return s * (1 + x) * (1 - s)


def swish_of_the_row(x, params):
    gate, up = swish(x) @ params["W_gate"], x @ params["W_up"]
    return (gate * up) @ params["W_down"], None


def swish_of_the_row_for_both(x, params):
    x = swish(x)
    return (x @ params["W_gate"] * (x @ params["W_up"])) @ params["W_down"], None


def product_without_what_arrives(dhidden, gate, up):
    return up * swish_slope(gate), swish(gate)


def product_with_the_moving_sigmoid(dhidden, gate, up):
    s = logistic(gate)
    return dhidden * up * gate * s * (1 - s), dhidden * swish(gate)


def width_rounded_to_even(d, multiple_of=256):
    return round(8 * d / 3 / multiple_of + 0.5) * multiple_of


WRONG = {
    "sigmoid": [
        (sigmoid_plain, "overflows"),
        (sigmoid_where, "overflows"),
        (sigmoid_as_ratio, "infinity_over_infinity"),
        (sigmoid_falling, "sign"),
        (sigmoid_one_number, None),
        (sigmoid_wide, "dtype_leaks"),
        (sigmoid_clipped_early, None),
        (lambda x: np.tanh(x), "tanh"),
        (lambda x: (1 + np.tanh(x)) / 2, "twice_as_steep"),
        (lambda x: 1 + np.exp(-x), "inverse_missing"),
        (lambda x: 1 / np.exp(-x), "one_missing"),
        (lambda x: x, None),
        (lambda x: 0.5, None),
        (sigmoid_of_one_branch, "size_in_exponent"),
    ],
    "silu": [
        (silu_plain, "overflows"),
        (silu_of_ratio, "infinity_over_infinity"),
        (silu_right_side_only, "cut_at_zero"),
        (silu_of_size, "size_in_sigmoid"),
        (hard_swish, None),
        (logistic, "sigmoid"),
        (lambda x: np.maximum(x, 0), "relu"),
        (lambda x: x * logistic(1.702 * x), "gelu_by_sigmoid"),
        (lambda x: np.where(x > 0, swish(x), 0.01 * x), None),
        (lambda x: np.logaddexp(0, x), "softplus"),
        (lambda x: x * np.tanh(np.logaddexp(0, x)), None),
        (lambda x: x, None),
    ],
    "silu_derivative": [
        (slope_by_differences, "nearly_right"),
        (slope_by_better_differences, None),
        (slope_in_float32, None),
        (slope_by_quotient_rule, "infinity_over_infinity"),
        (logistic, "second_factor_fixed"),
        (lambda x: logistic(x) * logistic(-x), "of_sigmoid"),
        (lambda x: x * logistic(x) * logistic(-x), "first_factor_fixed"),
        (lambda x: logistic(x) + logistic(x) * logistic(-x), "x_lost"),
        (lambda x: logistic(x) - swish(x) * logistic(-x), "sign"),
        (lambda x: logistic(x) + swish(x) * logistic(x), "square_for_product"),
        (lambda x: swish(x) + logistic(x), "factor_lost"),
        (lambda x: np.where(x > 0, 1.0, 0.0), "of_relu"),
        (swish, "not_differentiated"),
        (slope_of_half_a_derivative, "sigmoid_of_second_term_lost"),
        (slope_with_plus, "plus_sigmoid"),
        (slope_bracketed_early, "bracket_closed_early"),
    ],
    "swiglu_forward": [
        (gate_and_up_swapped, "swapped"),
        (classic_with_silu, "no_up"),
        (classic_with_up, "only_up"),
        (original_glu, "sigmoid_gate"),
        (bilinear, "no_activation"),
        (reglu, "relu_gate"),
        (silu_at_the_end, "silu_on_product"),
        (both_through_silu, "silu_on_both"),
        (sum_of_branches, "added"),
        (bad_silu_inside, "size_in_sigmoid"),
        (with_residual, "residual_inside"),
        (nan_when_open, None),
        (chained, None),
        (leaks_float64, "dtype_leaks"),
        (writes_into_weights, "writes_into_arguments"),
        (three_features, "example_written_in"),
        (only_out, None),
        (only_two_axes, None),
        (lambda x, params: (x, None), None),
        (lambda x, params: (0 * x, None), None),
        (swish_of_the_row, "silu_of_x"),
        (swish_of_the_row_for_both, "silu_before_both"),
    ],
    "gate_backward": [
        (product_own_values, "own_value_to_gate"),
        (product_without_slope, "slope_missing"),
        (product_raw_gate, "gate_before_silu"),
        (product_turned_round, "order"),
        (product_relu, "relu_s_slope"),
        (product_by_differences, "nearly_right"),
        (lambda dhidden, gate, up: (dhidden, dhidden), "nothing_to_up"),
        (lambda dhidden, gate, up: dhidden * swish(gate), None),
        (product_without_what_arrives, "dhidden_missing"),
        (product_with_the_moving_sigmoid, "other_half_of_slope"),
    ],
    "swiglu_backward": [
        (backward_without_slope, "slope_missing"),
        (backward_half_a_slope, "half_a_slope"),
        (backward_of_swapped_net, "roles_swapped"),
        (backward_overwrites_dx, "up_path_only"),
        (backward_forgets_up, "gate_path_only"),
        (backward_labels_crossed, "weights_crossed"),
        (backward_averages, "weights_mean"),
        (backward_down_from_gate, "down_from_gate"),
        (backward_d_names, None),
        (backward_as_tuple, None),
        (backward_in_place, "writes_into_arguments"),
        (backward_two_axes, None),
        (backward_by_differences, None),
        (lambda dout, cache: (dout, cache[1]), None),
    ],
    "swiglu_near_zero": [
        (lambda x, p: x @ p["W_gate"] * (x @ p["W_up"]) @ p["W_down"], "half_missing"),
        (lambda x, p: net(x, p, lambda g, u: swish(g) * u)[0], "nothing_left_out"),
        (lambda x, p: x @ p["W_up"] @ p["W_down"] / 2, "gate_constant"),
        (lambda x, p: 0 * x, None),
        (lambda x, p: net(1e-4 * x, p, lambda g, u: swish(g) * u)[0] * 1e8, None),
    ],
    "swiglu_width": [
        (lambda d, multiple_of: 4 * d, "classic"),
        (lambda d, multiple_of: int(2 / 3 * 4 * d), "not_rounded"),
        (lambda d, multiple_of: math.ceil(8 * d / 3), "rounded_to_one"),
        (lambda d, multiple_of: 8 * d // 3 // multiple_of * multiple_of, "rounded_down"),
        (
            lambda d, multiple_of: math.ceil(2 / 3 * int(8 * d / 3) / multiple_of) * multiple_of,
            "two_thirds_twice",
        ),
        (
            lambda d, multiple_of: multiple_of * (int(8 * d / 3) // multiple_of + 1),
            "always_one_more",
        ),
        (lambda d, multiple_of: 11008, None),
        (lambda d, multiple_of: "11008", None),
        (width_rounded_to_even, "half_added"),
    ],
}
