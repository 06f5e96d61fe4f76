"""How much arithmetic: FLOPs of a forward pass and of training, each convention by its name.

A multiply-add is two FLOPs. Only matrix products are counted: norms, activations, softmax, RoPE,
biases and additions to the stream are a percent or so of them and are left out by everybody.
"""

from transformer_block.counting import count_parameters

ATTENTION = ("full square", "causal", "left out")
HEAD = ("counted", "left out")
EMBEDDING = ("look-up", "matrix product")
WORK = {"forward": 1, "training": 3, "training with recomputation": 4}


def sequence_flops(
    config,
    T,
    work="forward",
    attention="full square",
    head="counted",
    embedding="look-up",
    experts_per_token=None,
):
    """Count the FLOPs of one sequence of T tokens, part by part.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    T : int
        Tokens in the sequence.
    work : str
        "forward"; "training", which is three times that, since each product has two gradients,
        each as dear as itself; or "training with recomputation", four times.
    attention : str
        Scores and mixing over all T² pairs ("full square", what plain code computes), over the
        T(T + 1)/2 pairs under the mask ("causal", what is needed), or "left out" (2P alone).
    head : str
        "counted" or "left out". A tied head costs as much as its own matrix would.
    embedding : str
        "look-up" costs nothing; "matrix product" counts it as one-hot rows times E, as
        Hoffmann et al. 2022 do.
    experts_per_token : int
        How many nets each token visits; to be told for a model with experts.

    Returns
    -------
    parts : dict
        FLOPs of "projections", "scores and mixing", "net", "router", "head" and "embedding".

    Raises
    ------
    ValueError
        If T is not positive, a convention is unknown, or ``experts_per_token`` is missing or
        impossible.
    """
    for name, value, known in (
        ("work", work, WORK), ("attention", attention, ATTENTION), ("head", head, HEAD),
        ("embedding", embedding, EMBEDDING),
    ):  # fmt: skip
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}: got {value!r}")
    if T < 1:
        raise ValueError(f"T must be at least 1: got {T}")
    weights = weights_per_token(config, experts_per_token)
    weights["head"] *= head == "counted"
    weights["embedding"] = config.vocab_rows * config.d_model * (embedding == "matrix product")
    pairs = {"full square": T * T, "causal": T * (T + 1) // 2, "left out": 0}[attention]
    parts = {part: 2 * T * number for part, number in weights.items()}
    parts["scores and mixing"] = 4 * pairs * config.n_layers * config.n_heads * config.head_dim
    return {part: WORK[work] * number for part, number in parts.items()}


def weights_per_token(config, experts_per_token=None):
    """Count the weights that every token is multiplied with: 2 FLOPs each.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    experts_per_token : int
        How many nets each token visits; to be told for a model with experts.

    Returns
    -------
    weights : dict
        Numbers of "projections", "net", "router" and "head", over all layers. The head counts
        whether tied or not; look-ups, biases and norms do not.

    Raises
    ------
    ValueError
        If ``experts_per_token`` is missing for a model with experts, or impossible.
    """
    used = 1 if experts_per_token is None and config.n_experts == 1 else experts_per_token
    if used is None or not 1 <= used <= config.n_experts:
        raise ValueError(
            f"experts_per_token must be from 1 to n_experts={config.n_experts}: got {used}"
        )
    parts = count_parameters(config)
    return {
        "projections": sum(parts[name] for name in ("W_q", "W_k", "W_v", "W_o")),
        "net": parts["net"] // config.n_experts * used,
        "router": parts["router"],
        "head": config.vocab_rows * config.d_model,
    }


def token_flops(config, T, **conventions):
    """Count the FLOPs of one token, as the mean over a sequence of T.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    T : int
        Tokens in the sequence.
    **conventions : str
        As in `sequence_flops`.

    Returns
    -------
    flops : float
        About 2P forward and 6P in training, plus the T term of attention.

    Raises
    ------
    ValueError
        As `sequence_flops`.
    """
    return sum(sequence_flops(config, T, **conventions).values()) / T


def cached_token_flops(config, t, experts_per_token=None):
    """Count the FLOPs of generating one token with a key/value cache: 2P + 4(t + 1)HK a layer.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    t : int
        The token's position, from 0: it attends to t cached tokens and to itself.
    experts_per_token : int
        How many nets each token visits; to be told for a model with experts.

    Returns
    -------
    flops : int
        The forward FLOPs of this token, head included.

    Raises
    ------
    ValueError
        If t is negative, or ``experts_per_token`` is missing or impossible.
    """
    if t < 0:
        raise ValueError(f"t must be zero or more: got {t}")
    weights = sum(weights_per_token(config, experts_per_token).values())
    return 2 * weights + 4 * (t + 1) * config.n_layers * config.n_heads * config.head_dim


def attention_share(config, T, **conventions):
    """Tell which part of the FLOPs is scores and mixing, the term that grows with T.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    T : int
        Tokens in the sequence.
    **conventions : str
        As in `sequence_flops`.

    Returns
    -------
    share : float
        From 0 to 1.

    Raises
    ------
    ValueError
        As `sequence_flops`.
    """
    parts = sequence_flops(config, T, **conventions)
    return parts["scores and mixing"] / sum(parts.values())


def balance_length(config, attention="full square", head="counted", experts_per_token=None):
    """Find the T at which scores and mixing cost as much as all dense matrices.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    attention : str
        "full square" or "causal".
    head : str
        "counted" or "left out".
    experts_per_token : int
        How many nets each token visits; to be told for a model with experts.

    Returns
    -------
    T : float
        6d for a block of 12d² at full square without the head; about twice that when causal.

    Raises
    ------
    ValueError
        If a convention is unknown, or ``experts_per_token`` is missing or impossible.
    """
    if attention not in ATTENTION[:2] or head not in HEAD:
        raise ValueError(
            f"attention must be one of {', '.join(ATTENTION[:2])} and head one of "
            f"{', '.join(HEAD)}: got {attention!r} and {head!r}"
        )
    weights = weights_per_token(config, experts_per_token)
    weights["head"] *= head == "counted"
    dense = 2 * sum(weights.values())
    per_key = 4 * config.n_layers * config.n_heads * config.head_dim
    keys = dense / per_key  # how many keys a token must read on average
    return keys if attention == "full square" else 2 * keys - 1  # causal: (T + 1) / 2 keys
