"""Small GGUF files, written by the format's own package."""

import gguf
import numpy as np

d, h, H, H_KV, L, V = 12, 7, 6, 3, 2, 11
TOKENS = ["<end>", "a", "b", "c", "1", "2", "Ġ", "ab", "Ġab", "12", "<user>"]
FIELDS = {
    "llama.block_count": L,
    "llama.context_length": 29,
    "llama.embedding_length": d,
    "llama.feed_forward_length": h,
    "llama.attention.head_count": H,
    "llama.attention.head_count_kv": H_KV,
    "llama.rope.freq_base": 1234.0,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [3, *[1] * 9, 3],
    "tokenizer.ggml.merges": ["a b", "Ġ ab", "1 2"],
    "tokenizer.ggml.eos_token_id": 0,
}
KV = d // H * H_KV
BLOCK = {
    "attn_q": (d, d), "attn_k": (KV, d), "attn_v": (KV, d), "attn_output": (d, d),
    "ffn_gate": (h, d), "ffn_up": (h, d), "ffn_down": (d, h), "attn_norm": (d,), "ffn_norm": (d,),
}  # fmt: skip


def tensors(rng):
    """Draw every tensor of a small tied model, in the file's names and orientation."""
    shapes = {"token_embd.weight": (V, d), "output_norm.weight": (d,)}
    shapes |= {f"blk.{i}.{name}.weight": shape for i in range(L) for name, shape in BLOCK.items()}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write(path, arrays, fields=FIELDS, architecture="llama", quantised=()):
    """Write a file; the named tensors hold raw bytes of a quantised type."""
    writer = gguf.GGUFWriter(path, architecture)
    adders = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}
    for name, value in fields.items():
        adders.get(type(value), writer.add_array)(name, value)
    for name, array in arrays.items():
        writer.add_tensor(name, array, raw_dtype=dict(quantised).get(name))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
