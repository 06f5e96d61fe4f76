"""Read a model of the Llama family from a GGUF file into the library's own parameters."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from transformer_block._require import require_shape
from transformer_block.bytepair import tokenizer_from
from transformer_block.config import ModelConfig, llama_config

BLOCK_TENSORS = {  # the library's name: the file's name within "blk.0", "blk.1", …
    "W_q": "attn_q",
    "W_k": "attn_k",
    "W_v": "attn_v",
    "W_o": "attn_output",
    "W_gate": "ffn_gate",
    "W_up": "ffn_up",
    "W_down": "ffn_down",
    "attn_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
}


@dataclass(frozen=True)
class PretrainedModel:
    """What a file holds: parameters, shape, tokenizer, and the settings of the forward pass.

    Attributes
    ----------
    params : dict
        As `decoder_forward` takes them, in float32.
    config : ModelConfig
        The shape, for counting.
    tokenizer : BytePairTokenizer
        Text to ids and back.
    rope_base, eps : float
        As in `decoder_forward`.
    context : int
        The largest T that the model was trained for.
    """

    params: dict
    config: ModelConfig
    tokenizer: object
    rope_base: float
    eps: float
    context: int

    @property
    def settings(self):
        """Keyword arguments that `decoder_forward`, `generate` and `trace_decoder` all need."""
        return {"n_heads": self.config.n_heads, "rope_base": self.rope_base, "eps": self.eps}


def load_gguf(path):
    """Read a Llama-architecture GGUF file, quantised or not.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    model : PretrainedModel
        Every weight as float32, transposed to multiply on the right: ``x @ W``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no GGUF file, is cut off, holds another architecture, or needs something that
        the library's block does not have.
    ModuleNotFoundError
        If the packages ``gguf`` and ``tokenizers`` are not installed.

    Notes
    -----
    RoPE pairs stand side by side in the rows of these files' ``W_q`` and ``W_k``, as in Meta's
    own weights and in this library: whoever wrote the file from a Hugging Face checkpoint, which
    keeps the halves apart, has put them back in this order.

    Writing text takes one row times each matrix again and again, and its speed is that of
    reading the weights. That is highest, by up to 1.8 times, when the longer side of a matrix
    lies together in memory: the embedding and ``W_down`` are stored column by column.
    """
    reader = _open(Path(path))
    fields = {name: field.contents() for name, field in reader.fields.items()}
    try:
        return _model(fields, {tensor.name: tensor for tensor in reader.tensors})
    except KeyError as error:
        raise ValueError(f"{path}: {error.args[0]} is missing") from error
    except (ValueError, NotImplementedError) as error:
        raise ValueError(f"{path}: {error}") from error


def _model(fields, tensors):
    """Put a model together from the metadata and the tensors of a file."""
    _require_llama(fields)
    config = _config(fields, tensors)
    params = _parameters(tensors, config)
    _require_known(fields, tensors, params, config)
    return PretrainedModel(
        params=params,
        config=config,
        tokenizer=tokenizer_from(fields),
        rope_base=float(fields.get("llama.rope.freq_base", 10_000.0)),
        eps=_shortest(fields["llama.attention.layer_norm_rms_epsilon"]),
        context=int(fields["llama.context_length"]),
    )


def _open(path):
    """Map the file into memory, with one clear error for each way in which that fails."""
    try:
        from gguf import GGUFReader
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"reading a GGUF file needs the package {error.name}: pip install gguf tokenizers"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"no weights file at {path}")

    class QuickReader(GGUFReader):
        """Reads 100,000 tokens and merges 3 times as fast: a plain array slices with less ado."""

        def _get(self, *where, **how):
            self.data = np.asarray(self.data)
            return super()._get(*where, **how)

    try:
        return QuickReader(path)
    except (ValueError, IndexError, KeyError, OverflowError, MemoryError) as error:
        raise ValueError(f"{path} is no GGUF file, or is cut off") from error


def _require_llama(fields):
    """Refuse another architecture, and the variants of this one that the block does not have."""
    architecture = fields["general.architecture"]
    if architecture != "llama":
        raise ValueError(f"the architecture must be 'llama': got {architecture!r}")
    scaling = fields.get("llama.rope.scaling.type", "none")
    if scaling != "none":
        raise ValueError(f"RoPE must not be scaled: got the scaling {scaling!r}")


def _config(fields, tensors):
    """Describe the shape that the metadata tells."""
    return llama_config(
        d=int(fields["llama.embedding_length"]),
        n_layers=int(fields["llama.block_count"]),
        n_heads=int(fields["llama.attention.head_count"]),
        n_kv_heads=int(fields["llama.attention.head_count_kv"]),
        h=int(fields["llama.feed_forward_length"]),
        V=len(fields["tokenizer.ggml.tokens"]),
        tied="untied" if "output.weight" in tensors else "tied",
        model=fields.get("general.name", "a Llama"),
    )


def _parameters(tensors, config):
    """Put every tensor in its place of the library's dict."""
    params = {
        "embedding": _laid_out(_array(tensors["token_embd.weight"])),  # (V, d)
        "blocks": [
            {
                name: _laid_out(_array(tensors[f"blk.{i}.{theirs}.weight"]).T)
                for name, theirs in BLOCK_TENSORS.items()
            }
            for i in range(config.n_layers)
        ],
        "final_norm": _array(tensors["output_norm.weight"]),
    }
    if "output.weight" in tensors:
        params["head"] = _laid_out(_array(tensors["output.weight"]))  # (V, d)
    return params


def _array(tensor):
    """Undo the quantisation: steps of a few bits, times a scale that 32 numbers share."""
    from gguf.quants import dequantize

    return np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)


def _laid_out(weight):
    """Let the longer side lie together in memory; a gain has only one."""
    n_rows, n_columns = np.atleast_2d(weight).shape
    return np.asarray(weight, order="C" if n_columns >= n_rows else "F")


def _require_known(fields, tensors, params, config):
    """Refuse shapes that the metadata does not tell, and tensors that nothing would use."""
    require_shape("token_embd", params["embedding"], (config.vocab_rows, config.d_model))
    for i, block in enumerate(params["blocks"]):
        for name, shape in _block_shapes(config).items():
            require_shape(f"{name} of block {i}", block[name], shape)
    used = {"token_embd.weight", "output_norm.weight", "output.weight"}
    used |= {f"blk.{i}.{t}.weight" for i in range(config.n_layers) for t in BLOCK_TENSORS.values()}
    strangers = sorted(tensors.keys() - used)
    if strangers:
        raise ValueError(f"a plain Llama has no tensor {strangers[0]}: got {len(strangers)} such")
    turned = fields.get("llama.rope.dimension_count", config.head_dim)
    if turned != config.head_dim:
        raise ValueError(f"RoPE must turn all K={config.head_dim} features of a head: got {turned}")


def _block_shapes(config):
    """Give the shape of every weight of a block."""
    d, h, width = config.d_model, config.d_ff, config.n_heads * config.head_dim
    kv_width = config.n_kv_heads * config.head_dim
    return {
        "W_q": (d, width), "W_k": (d, kv_width), "W_v": (d, kv_width), "W_o": (width, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d), "attn_norm": (d,), "ffn_norm": (d,),
    }  # fmt: skip


def _shortest(number):
    """Read a float32 as the decimal it was written from: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(number)))
