"""The shape of a model: what counting needs to know, and 24 published models as data."""

import csv
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of one decoder, in the columns of ``data/models.csv``.

    Attributes
    ----------
    model : str
        Its name.
    d_model, n_layers, n_heads, n_kv_heads, head_dim, d_ff : int
        d, L, H, the number of key/value heads, K and h. K is not always d / H.
    mlp_matrices : int
        3 for a gated net, 2 for the classic one.
    n_experts : int
        Nets per block; above 1 a router of shape (d, n_experts) picks among them.
    vocab_rows, learned_positions : int
        Rows of the embedding (V) and of the table of positions (0 without one).
    tied_embeddings, qkv_bias, attn_out_bias, mlp_bias, lm_head_bias : bool
        Whether the head is the embedding, and which matrices add a bias.
    norm : str
        The norm in words.
    norms_per_layer, norm_params_per_norm, qk_norm_params_per_layer : int
        Norms of a block, parameters of one (0, d or 2d), and those of norms on q and k.
    activation, position : str
        The net's activation and how positions enter, in words.
    total_params_published : int
        The count its makers publish; 0 where there is none.

    Raises
    ------
    ValueError
        If a size is not positive, ``n_kv_heads`` does not divide ``n_heads``, or
        ``mlp_matrices`` is neither 2 nor 3.
    """

    model: str
    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    d_ff: int
    mlp_matrices: int
    n_experts: int
    vocab_rows: int
    learned_positions: int
    tied_embeddings: bool
    qkv_bias: bool
    attn_out_bias: bool
    mlp_bias: bool
    lm_head_bias: bool
    norm: str
    norms_per_layer: int
    norm_params_per_norm: int
    qk_norm_params_per_layer: int
    activation: str
    position: str
    total_params_published: int

    def __post_init__(self):
        """Refuse a shape that no model can have."""
        for name in _SIZES:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive: got {getattr(self, name)}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                "n_kv_heads must divide n_heads: "
                f"got n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"
            )
        if self.mlp_matrices not in (2, 3):
            raise ValueError(f"mlp_matrices must be 2 or 3: got {self.mlp_matrices}")


_SIZES = (
    "d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff", "n_experts", "vocab_rows",
)  # fmt: skip


def published_models():
    """Read the table of published models.

    Returns
    -------
    models : dict
        Name to `ModelConfig`, in the order of ``data/models.csv``.
    """
    with (Path(__file__).parent / "data" / "models.csv").open(newline="", encoding="utf-8") as file:
        configs = [_config_from(row) for row in csv.DictReader(file)]
    return {config.model: config for config in configs}


def _config_from(row):
    """Give every column of a row of text the type of its field."""
    of_text = {str: str, int: int, bool: lambda text: bool(int(text))}
    return ModelConfig(**{f.name: of_text[f.type](row[f.name]) for f in fields(ModelConfig)})


def llama_config(d, n_layers, n_heads, n_kv_heads, h, V, tied="tied", model="a Llama"):
    """Describe a model of the Llama family: RMSNorm, RoPE, SwiGLU, no biases.

    Parameters
    ----------
    d : int
        Width of the stream; the heads' width is d / n_heads.
    n_layers : int
        Number of blocks L.
    n_heads : int
        Number of query heads H.
    n_kv_heads : int
        Number of key/value heads, a divisor of ``n_heads``.
    h : int
        Width of the gated net.
    V : int
        Rows of the embedding.
    tied : str
        "tied" if the embedding is also the head, "untied" if the head is its own matrix.
    model : str
        Its name.

    Returns
    -------
    config : ModelConfig
        The shape, without a published total.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide d, ``tied`` is another word, or a size is impossible.
    """
    if n_heads < 1 or d % n_heads:
        raise ValueError(f"n_heads must divide d: got d={d}, n_heads={n_heads}")
    if tied not in ("tied", "untied"):
        raise ValueError(f"tied must be 'tied' or 'untied': got {tied!r}")
    return ModelConfig(
        model=model, d_model=d, n_layers=n_layers, n_heads=n_heads, n_kv_heads=n_kv_heads,
        head_dim=d // n_heads, d_ff=h, mlp_matrices=3, n_experts=1, vocab_rows=V,
        learned_positions=0, tied_embeddings=tied == "tied", qkv_bias=False, attn_out_bias=False,
        mlp_bias=False, lm_head_bias=False, norm="RMSNorm (gain only)", norms_per_layer=2,
        norm_params_per_norm=d, qk_norm_params_per_layer=0, activation="SwiGLU (SiLU)",
        position="RoPE", total_params_published=0,
    )  # fmt: skip
