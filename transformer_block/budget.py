"""The planning rule C = 6ND and what follows from it. For planning, not for profiling."""


def training_compute(N, D):
    """Estimate the FLOPs of training N parameters on D tokens: C = 6ND.

    Parameters
    ----------
    N : int
        Parameters; which ones (embedding, head) is a convention to be named with the number.
    D : int
        Tokens seen.

    Returns
    -------
    C : int
        2 FLOPs per parameter and token forward, 4 backward.

    Raises
    ------
    ValueError
        If N or D is not positive.

    Notes
    -----
    Leaves out the T term of attention, norms, the optimiser, recomputation and idle hardware.
    Source: Kaplan et al. 2020; Hoffmann et al. 2022.
    """
    _require_positive(N=N, D=D)
    return 6 * N * D


def tokens_within(C, N):
    """Turn C = 6ND round: how many tokens a budget buys for N parameters.

    Parameters
    ----------
    C : float
        FLOPs.
    N : int
        Parameters.

    Returns
    -------
    D : float
        Tokens.

    Raises
    ------
    ValueError
        If C or N is not positive.
    """
    _require_positive(C=C, N=N)
    return C / (6 * N)


def compute_optimal(C, tokens_per_parameter=20.0):
    """Split a budget between size and data at a fixed number of tokens per parameter.

    Parameters
    ----------
    C : float
        FLOPs.
    tokens_per_parameter : float
        D / N; about 20 in Hoffmann et al. 2022. Models that are used a lot are trained on more.

    Returns
    -------
    N : float
        Parameters.
    D : float
        Tokens.

    Raises
    ------
    ValueError
        If an argument is not positive.
    """
    _require_positive(C=C, tokens_per_parameter=tokens_per_parameter)
    N = (C / (6 * tokens_per_parameter)) ** 0.5
    return N, tokens_per_parameter * N


def _require_positive(**numbers):
    """Raise ``ValueError`` unless every number is above zero."""
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} must be positive: got {number}")
