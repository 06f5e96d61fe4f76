"""How many parameters: exactly and by part, and the approximations of section 22.4."""


def count_parameters(config):
    """Count every parameter of a model, part by part.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.

    Returns
    -------
    parts : dict
        Part to number of parameters over all layers. The parts share nothing, so their sum is
        the model's total: ``sum(count_parameters(config).values())``.

    Notes
    -----
    A tied head is the embedding, so it counts 0. The final norm has the size of a block's norm.
    """
    d, L, V = config.d_model, config.n_layers, config.vocab_rows
    q_width = config.n_heads * config.head_dim  # not always d
    kv_width = config.n_kv_heads * config.head_dim
    routed = config.n_experts > 1
    return {
        "embedding": V * d,
        "positions": config.learned_positions * d,
        "W_q": L * d * q_width,
        "W_k": L * d * kv_width,
        "W_v": L * d * kv_width,
        "W_o": L * q_width * d,
        "attention biases": L * _attention_biases(config),
        "net": L * config.n_experts * config.mlp_matrices * d * config.d_ff,
        "net biases": L * config.n_experts * _net_biases(config),
        "router": L * d * config.n_experts if routed else 0,
        "norms": L * config.norms_per_layer * config.norm_params_per_norm,
        "norms of q and k": L * config.qk_norm_params_per_layer,
        "final norm": config.norm_params_per_norm,
        "head": 0 if config.tied_embeddings else V * d,
        "head bias": V if config.lm_head_bias else 0,
    }


def _attention_biases(config):
    """Count the biases of one attention layer: one per column of each matrix that has them."""
    qkv = (config.n_heads + 2 * config.n_kv_heads) * config.head_dim
    return config.qkv_bias * qkv + config.attn_out_bias * config.d_model


def _net_biases(config):
    """Count the biases of one net: every matrix but the last has h columns, the last has d."""
    return config.mlp_bias * ((config.mlp_matrices - 1) * config.d_ff + config.d_model)


def total_parameters(config):
    """Add up `count_parameters`.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.

    Returns
    -------
    total : int
        Every parameter, each counted once.
    """
    return sum(count_parameters(config).values())


def approximate_block_parameters(d, h, net="gated"):
    """Count a block without biases, gains and grouped heads: 4d² + 3dh, as in section 22.4.

    Parameters
    ----------
    d : int
        Width of the stream.
    h : int
        Width of the net.
    net : str
        "gated" has three matrices, "classic" two, which gives 12d² at h = 4d.

    Returns
    -------
    parameters : int
        4d² for attention and 3dh (or 2dh) for the net.

    Raises
    ------
    ValueError
        If ``net`` is another word.

    Notes
    -----
    A gated net gives 16d² at h = 4d and again 12d² at h = 8d/3.
    """
    matrices = {"gated": 3, "classic": 2}
    if net not in matrices:
        raise ValueError(f"net must be 'gated' or 'classic': got {net!r}")
    return 4 * d * d + matrices[net] * d * h


def gated_width(d, multiple_of=256, multiplier=1.0):
    """Choose h near 8d/3, rounded up, as the Llama family does.

    Parameters
    ----------
    d : int
        Width of the stream.
    multiple_of : int
        h is the next multiple of this.
    multiplier : float
        Widens the net before rounding; Llama 3 takes 1.3.

    Returns
    -------
    h : int
        4096 gives 11008; with 1.3 and multiples of 1024 it gives 14336.

    Raises
    ------
    ValueError
        If an argument is not positive.

    Notes
    -----
    Fractions are cut off twice, before and after the multiplier: Meta's code does, and the
    published widths follow from it. Source: Touvron et al. 2023, LLaMA, and its reference code.
    """
    if min(d, multiple_of, multiplier) <= 0:
        raise ValueError(
            "d, multiple_of and multiplier must be positive: "
            f"got {d}, {multiple_of} and {multiplier}"
        )
    wanted = int(multiplier * (8 * d // 3))
    return -(-wanted // multiple_of) * multiple_of  # the quotient rounded up


def width_within(budget, d, multiple_of=256, net="gated"):
    """Choose the largest h whose block of 4d² + 3dh parameters stays within a budget.

    Parameters
    ----------
    budget : int
        Parameters that one block may have.
    d : int
        Width of the stream.
    multiple_of : int
        h is a multiple of this.
    net : str
        "gated" or "classic", as in `approximate_block_parameters`.

    Returns
    -------
    h : int
        Rounded down, so that the budget holds.

    Raises
    ------
    ValueError
        If not even ``h = multiple_of`` fits.
    """
    fixed = approximate_block_parameters(d, 0, net)
    per_step = approximate_block_parameters(d, multiple_of, net) - fixed
    steps = (budget - fixed) // per_step
    if steps < 1:
        raise ValueError(
            f"budget must be at least {fixed + per_step} for d={d}, h={multiple_of}: got {budget}"
        )
    return int(steps) * multiple_of


def cache_bytes_per_token(config, bytes_per_number=2):
    """Count the memory that one token takes in the key/value cache.

    Parameters
    ----------
    config : ModelConfig
        The shape of the model.
    bytes_per_number : int
        2 in half precision, 4 in float32.

    Returns
    -------
    size : int
        Bytes for one key and one value per layer and key/value head.
    """
    return 2 * config.n_layers * config.n_kv_heads * config.head_dim * bytes_per_number
