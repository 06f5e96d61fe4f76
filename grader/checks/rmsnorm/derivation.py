"""The steps to (22.3): what ε does, the gradient of r, the Jacobian, its product with dz."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.rmsnorm.formulas import dot, inv_rms, pull_back


def _named(output):
    """Give a formula's value the name of the output that it computes."""
    return lambda formula: lambda **inputs: {output: formula(**inputs)}


# What ε does


def _half_cases(rng):
    yield Case({"eps": 1e-5}, "the usual ε")
    yield Case({"eps": float(rng.uniform(0.02, 0.5))}, "a larger ε")


_rms = _named("rms")
HALF = Exercise(
    name="half_rms",
    returns=("rms",),
    reference=_rms(lambda eps: np.sqrt(eps / 3)),
    claims=by_name(
        Claim("value", "At this input RMS the output's RMS is one half.", _half_cases, ("rms",)),
    ),
    mistakes=(
        Mistake(
            "knee",
            "At your input RMS mean(x²) equals ε. What is 1/√2 — is it one half?",
            _rms(lambda eps: np.sqrt(eps)),
        ),
        Mistake(
            "square_left",
            "You found mean(x²). The question is about the RMS: what is still to do?",
            _rms(lambda eps: eps / 3),
        ),
        Mistake(
            "outside",
            "Which form of RMSNorm does this answer? Is ε inside the root or outside?",
            _rms(lambda eps: eps),
        ),
        Mistake(
            "upside_down",
            "Put your answer into s / √(s² + ε). Is the result one half, or nearly one?",
            _rms(lambda eps: np.sqrt(3 * eps)),
        ),
        Mistake(
            "root_halved",
            "Does the output's RMS halve when s does?",
            _rms(lambda eps: np.sqrt(eps) / 2),
        ),
        Mistake(
            "root_of_three_lost",
            "Put your answer into s / √(s² + ε). Does it give one half?",
            _rms(lambda eps: np.sqrt(eps) / 3),
        ),
    ),
)


# One row: the gradient of r, and the Jacobian of z = x r


def _row(rng, scale=1.0):
    return witness.rows(rng, witness.shape(rng, 0), scale)


def _row_value(rng):
    yield Case({"x": _row(rng), "eps": 0.0}, "an ordinary row, ε = 0")
    yield Case({"x": _row(rng, 30.0), "eps": 0.0}, "a row of size 30, ε = 0")


def _row_eps(rng):
    yield Case({"x": _row(rng), "eps": 0.1}, "an ordinary row, ε = 0.1")
    yield Case({"x": _row(rng, 1e-6), "eps": 1e-12}, "a row of size 1e-6, ε = 1e-12")


def _row_claims(output, value):
    return by_name(
        Claim("value", value, _row_value, (output,)),
        Claim(
            "eps",
            "The formula holds where ε counts as much as x, and x is left as it was.",
            _row_eps,
            (output,),
            leaves_arguments,
        ),
    )


def rms(x):
    """Return the RMS of one row, without ε."""
    return np.sqrt(np.mean(x * x))


def _gradient_of_r(x, eps, *, power=3, factor=-1.0, divide=True):
    return factor * inv_rms(x, eps) ** power * x / (x.size if divide else 1)


_gradient = _named("gradient")
GRADIENT = Exercise(
    name="inv_rms_gradient",
    returns=("gradient",),
    reference=_gradient(_gradient_of_r),
    claims=_row_claims("gradient", "Entry j is ∂r/∂x_j."),
    mistakes=(
        Mistake(
            "sign",
            "If an entry of x grows in size, does r grow or shrink? Look at your sign.",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, factor=1.0)),
        ),
        Mistake(
            "power_two",
            "r is a power −1/2. Which power has its derivative, and which power of r is that?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, power=2)),
        ),
        Mistake(
            "power_one",
            "Which power of r does the outer derivative leave? Count the exponents again.",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, power=1)),
        ),
        Mistake(
            "width_forgotten",
            "Where has the 1/d of the mean gone?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, divide=False)),
        ),
        Mistake(
            "width_twice",
            "How often does the 1/d of the mean appear in the chain rule?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps) / x.size),
        ),
        Mistake(
            "half_forgotten",
            "The outer derivative brings a factor −1/2, the inner one a 2. Are both in?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, factor=-2.0)),
        ),
        Mistake(
            "two_forgotten",
            "What is the derivative of x_j²? Is its factor in your result?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, factor=-0.5)),
        ),
        Mistake(
            "inner_forgotten",
            "The chain rule has an inner derivative as well. How does it depend on x_j?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps) / x),
        ),
        Mistake(
            "eps_forgotten",
            "Which r stands in your formula: the one with ε under the root?",
            _gradient(lambda x, eps: _gradient_of_r(x, 0.0)),
        ),
        Mistake(
            "eps_fixed",
            "Does your function use the ε that it is given, or always the same number?",
            _gradient(lambda x, eps: _gradient_of_r(x, 1e-5)),
        ),
        Mistake(
            "eps_outside",
            "Of which r is this the derivative: the one with ε inside the root, or outside?",
            _gradient(lambda x, eps: -x / (x.size * rms(x) * (rms(x) + eps) ** 2)),
        ),
        Mistake(
            "of_rms",
            "Is this the derivative of the RMS, or of its inverse?",
            _gradient(lambda x, eps: _gradient_of_r(x, eps, power=1, factor=1.0)),
        ),
    ),
)


def _jacobian_of_z(x, eps, *, power=3, factor=-1.0, divide=True):
    r = inv_rms(x, eps)
    return r * np.eye(x.size) + factor * r**power * np.outer(x, x) / (x.size if divide else 1)


_jacobian = _named("jacobian")
JACOBIAN = Exercise(
    name="normalize_jacobian",
    returns=("jacobian",),
    reference=_jacobian(_jacobian_of_z),
    claims=_row_claims("jacobian", "Entry (i, j) is ∂z_i/∂x_j."),
    mistakes=(
        Mistake(
            "squares_for_pairs",
            "Entry (i, j) needs x_i and x_j. Which entries does your product pair?",
            _jacobian(
                lambda x, eps: (
                    inv_rms(x, eps) * np.eye(x.size) - inv_rms(x, eps) ** 3 * x * x / x.size
                )
            ),
        ),
        Mistake(
            "number_for_pairs",
            "Your product of x with x is one number. Which product gives one number per pair i, j?",
            _jacobian(
                lambda x, eps: (
                    inv_rms(x, eps) * np.eye(x.size) - inv_rms(x, eps) ** 3 * np.dot(x, x) / x.size
                )
            ),
        ),
        Mistake(
            "factor_two",
            "The 2 of x_j² meets a ½ of the root. Are both in your second term?",
            _jacobian(lambda x, eps: _jacobian_of_z(x, eps, factor=-2.0)),
        ),
        Mistake(
            "power_four",
            "Is it x or the normalised row that stands beside r³? One r may be counted twice.",
            _jacobian(lambda x, eps: _jacobian_of_z(x, eps, power=4)),
        ),
        Mistake(
            "projection",
            "Applied to x itself your matrix gives zero. Is that still right where ε is not zero?",
            _jacobian(
                lambda x, eps: inv_rms(x, eps) * (np.eye(x.size) - np.outer(x, x) / np.dot(x, x))
            ),
        ),
        Mistake(
            "eps_fixed",
            "Does your function use the ε that it is given, or always the same number?",
            _jacobian(lambda x, eps: _jacobian_of_z(x, 1e-5)),
        ),
        Mistake(
            "only_diagonal",
            "Does z_i change when another x_j moves? Through what?",
            _jacobian(lambda x, eps: inv_rms(x, eps) * np.eye(x.size)),
        ),
        Mistake(
            "product_rule_half",
            "z_i = x_i r is a product. Where is the term in which r stays and x_i moves?",
            _jacobian(lambda x, eps: -(inv_rms(x, eps) ** 3) * np.outer(x, x) / x.size),
        ),
        Mistake(
            "diagonal_of_product",
            "Is x_i x_j in your matrix for every pair, or for i = j only?",
            _jacobian(lambda x, eps: np.diag(np.diag(_jacobian_of_z(x, eps)))),
        ),
        Mistake(
            "everywhere",
            "Is ∂x_i/∂x_j one for every pair i, j?",
            _jacobian(
                lambda x, eps: inv_rms(x, eps) - inv_rms(x, eps) ** 3 * np.outer(x, x) / x.size
            ),
        ),
        Mistake(
            "sign",
            "Which sign has ∂r/∂x_j? Look at it in the second term.",
            _jacobian(lambda x, eps: _jacobian_of_z(x, eps, factor=1.0)),
        ),
        Mistake(
            "power_two",
            "Which power of r did ∂r/∂x_j have?",
            _jacobian(lambda x, eps: _jacobian_of_z(x, eps, power=2)),
        ),
        Mistake(
            "width_forgotten",
            "Where has the 1/d of the mean gone?",
            _jacobian(lambda x, eps: _jacobian_of_z(x, eps, divide=False)),
        ),
        Mistake(
            "eps_forgotten",
            "Which r stands in your formula: the one with ε under the root?",
            _jacobian(lambda x, eps: _jacobian_of_z(x, 0.0)),
        ),
        Mistake(
            "r_of_first_term",
            "What multiplies the identity: r, or one?",
            _jacobian(
                lambda x, eps: np.eye(x.size) - inv_rms(x, eps) ** 3 * np.outer(x, x) / x.size
            ),
        ),
    ),
)


# Many rows: the Jacobian applied without building it


def _vjp_case(rng, shape, scale, eps, about):
    x = witness.rows(rng, shape, scale)
    return Case({"dz": witness.rows(rng, shape), "x": x, "eps": eps}, about)


def _vjp_value(rng):
    yield _vjp_case(rng, witness.shape(rng, 0), 1.0, 0.0, "one ordinary row, ε = 0")
    yield _vjp_case(rng, witness.shape(rng, 0), 1.0, 0.1, "one ordinary row, ε = 0.1")
    yield _vjp_case(rng, witness.shape(rng, 0), 1e-6, 1e-12, "a row of size 1e-6, ε = 1e-12")


def pull_back_with_r(dz, x, r):
    """Pull a gradient back with an r that is given."""
    return r * dz - x * r**3 * dot(dz, x) / x.shape[-1]


def _vjp_rows(rng):
    for leading in (1, 2):
        about = f"rows of ordinary size, leading axes: {leading}, ε = 0.1"
        yield _vjp_case(rng, witness.shape(rng, leading), 1.0, 0.1, about)


PULL_BACK_MISTAKES = (
    Mistake(
        "no_rank_one",
        "r depends on x too. Where is the part of the gradient that comes through r?",
        lambda dz, x, eps: inv_rms(x, eps) * dz,
    ),
    Mistake(
        "sign",
        "Which sign has ∂r/∂x_j? Look at it in the second term.",
        lambda dz, x, eps: pull_back(dz, x, eps, factor=1.0),
    ),
    Mistake(
        "factor_two",
        "The 2 of x_j² meets a ½ of the root. Are both in your second term?",
        lambda dz, x, eps: pull_back(dz, x, eps, factor=-2.0),
    ),
    Mistake(
        "factor_half",
        "The ½ of the root meets a 2 of x_j². Are both in your second term?",
        lambda dz, x, eps: pull_back(dz, x, eps, factor=-0.5),
    ),
    Mistake(
        "power_two",
        "Which power of r did ∂r/∂x_j have?",
        lambda dz, x, eps: pull_back(dz, x, eps, power=2),
    ),
    Mistake(
        "power_one",
        "Which power of r belongs to the second term? Compare the units of both terms.",
        lambda dz, x, eps: pull_back(dz, x, eps, power=1),
    ),
    Mistake(
        "normalized_for_x",
        "Is it x or the normalised row that stands beside r³? One r may be counted twice.",
        lambda dz, x, eps: pull_back(dz, x, eps, power=4),
    ),
    Mistake(
        "width_forgotten",
        "Where has the 1/d of the mean gone?",
        lambda dz, x, eps: pull_back(dz, x, eps, d=1),
    ),
    Mistake(
        "width_twice",
        "How often is c divided by d?",
        lambda dz, x, eps: pull_back(dz, x, eps, d=x.shape[-1] ** 2),
    ),
    Mistake(
        "all_entries_for_width",
        "What do you divide c by: the width of a row, or the number of all entries?",
        lambda dz, x, eps: pull_back(dz, x, eps, d=x.size),
    ),
    Mistake(
        "length_for_width",
        "len counts along the first axis. Which axis has the d features?",
        lambda dz, x, eps: pull_back(dz, x, eps, d=len(x)),
    ),
    Mistake(
        "not_summed",
        "c is one number per row. Which sum makes it?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=dz * x),
    ),
    Mistake(
        "summed_over_rows",
        "c is one number per row. Do your rows share one?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=np.sum(dz * x)),
    ),
    Mistake(
        "summed_over_tokens",
        "Along which axis do you sum for c?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=np.sum(dz * x, axis=0)),
    ),
    Mistake(
        "c_of_x_alone",
        "Your c does not depend on the gradient that arrives. What stands beside x_i in its sum?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=np.sum(x, axis=-1, keepdims=True)),
    ),
    Mistake(
        "c_without_x",
        "What is multiplied with z̄ before the sum that makes c?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=np.sum(dz, axis=-1, keepdims=True)),
    ),
    Mistake(
        "c_without_dz",
        "Where in c is the gradient that comes from above?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=dot(x, x)),
    ),
    Mistake(
        "c_forgotten",
        "Your second term has no sum in it. What does the gradient from above do there?",
        lambda dz, x, eps: pull_back(dz, x, eps, c=1.0),
    ),
    Mistake(
        "arguments_swapped",
        "Which of the two arguments is the gradient, and which is the row?",
        lambda dz, x, eps: pull_back(x, dz, eps),
    ),
    Mistake(
        "r_of_first_term",
        "What multiplies the gradient itself in the first term?",
        lambda dz, x, eps: pull_back(dz, x, eps) + (1.0 - inv_rms(x, eps)) * dz,
    ),
    Mistake(
        "one_r_for_all",
        "Each row has its own r. Do your rows share one?",
        lambda dz, x, eps: pull_back_with_r(dz, x, (np.mean(x * x) + eps) ** -0.5),
    ),
    Mistake(
        "eps_forgotten",
        "Which r stands in your formula: the one with ε under the root?",
        lambda dz, x, eps: pull_back(dz, x, 0.0),
    ),
    Mistake(
        "eps_fixed",
        "Does your function use the ε that it is given, or always the same number?",
        lambda dz, x, eps: pull_back(dz, x, 1e-5),
    ),
    Mistake(
        "projection",
        "You take out all of the part along x. Is that still right where ε is not zero?",
        lambda dz, x, eps: inv_rms(x, eps) * (dz - x * dot(dz, x) / dot(x, x)),
    ),
)

_dx = _named("dx")
VJP = Exercise(
    name="normalize_vjp",
    returns=("dx",),
    reference=_dx(pull_back),
    claims=by_name(
        Claim("value", "For one row, dx is the transposed Jacobian times dz.", _vjp_value, ("dx",)),
        Claim(
            "rows",
            "Many rows at once, each with its own r and c; dz and x are left as they were.",
            _vjp_rows,
            ("dx",),
            leaves_arguments,
        ),
    ),
    mistakes=tuple(Mistake(m.name, m.question, _dx(m.outputs)) for m in PULL_BACK_MISTAKES),
)
