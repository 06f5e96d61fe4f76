"""Write torch_block.npz: every part of the block, forward and backward, from PyTorch in float64.

Run with torch installed: ``python tests/data/make_torch_block.py``. With ``--check`` the file is
compared instead, to 1e-12, since PyTorch's own last digits differ between processors.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

FILE = Path(__file__).with_name("torch_block.npz")
CASES = {  # name: (leading axes, T, d, h, H, H_kv, K, rope_base, eps, first position)
    "plain": ((2,), 7, 10, 13, 3, 3, 4, 10_000.0, 1e-5, 0),
    "grouped": ((), 5, 14, 11, 4, 2, 6, 100.0, 1e-3, 0),
    "later": ((2, 3), 3, 7, 5, 6, 2, 2, 500_000.0, 1e-5, 1000),
}


def draw(leading, T, d, h, H, H_kv, K):
    """Draw the stream, the gradient that comes back, and every weight."""
    shapes = {
        "x": (*leading, T, d), "dout": (*leading, T, d),
        "W_q": (d, H * K), "W_k": (d, H_kv * K), "W_v": (d, H_kv * K), "W_o": (H * K, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d), "W_1": (d, h), "W_2": (h, d),
        "attn_norm": (d,), "ffn_norm": (d,), "attn_norm_bias": (d,), "ffn_norm_bias": (d,),
    }  # fmt: skip
    drawn = {name: torch.randn(shape) for name, shape in shapes.items()}
    for name, tensor in drawn.items():
        if name.startswith("W"):
            tensor /= tensor.shape[0] ** 0.5
        tensor.requires_grad_(name != "dout")
    return drawn


def rope(x, positions, base):
    """Turn by complex multiplication, as Meta's own code does."""
    K = x.shape[-1]
    angles = torch.outer(positions, base ** (-torch.arange(0, K, 2) / K))
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def attention(x, p, H, H_kv, K, positions, base):
    """Attend with PyTorch's own fused function, which repeats grouped heads itself."""
    q, k, v = (
        (x @ p[name]).unflatten(-1, (n, K)).transpose(-3, -2)
        for name, n in (("W_q", H), ("W_k", H_kv), ("W_v", H_kv))
    )
    q, k = rope(q, positions, base), rope(k, positions, base)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return mixed.transpose(-3, -2).flatten(-2) @ p["W_o"]


def functions(p, H, H_kv, K, base, eps, positions):
    """Name every function of x whose values are stored."""
    still = torch.zeros_like(positions)

    def attend(x, where=positions):
        return attention(x, p, H, H_kv, K, where, base)

    def swiglu(x):
        return (F.silu(x @ p["W_gate"]) * (x @ p["W_up"])) @ p["W_down"]

    def gelu_net(x):
        return F.gelu(x @ p["W_1"], approximate="tanh") @ p["W_2"]

    def rms(x, name):
        return F.rms_norm(x, x.shape[-1:], p[name], eps)

    def layer(x, name):
        return F.layer_norm(x, x.shape[-1:], p[name], p[name + "_bias"], eps)

    def pre(x, norm, attend, net):
        u = x + attend(norm(x, "attn_norm"))
        return u + net(norm(u, "ffn_norm"))

    def post(x):
        u = rms(x + attend(x), "attn_norm")
        return rms(u + swiglu(u), "ffn_norm")

    return {
        "rope": lambda x: rope(x[..., : x.shape[-1] // 2 * 2], positions, base),
        "swiglu": swiglu,
        "gelu_net": gelu_net,
        "attention": attend,
        "block": lambda x: pre(x, rms, attend, swiglu),
        "post_norm": post,
        "no_residual": lambda x: swiglu(rms(attend(rms(x, "attn_norm")), "ffn_norm")),
        "gpt2": lambda x: pre(x, layer, lambda t: attend(t, still), gelu_net),
    }


def values(leading, T, d, h, H, H_kv, K, base, eps, first):
    """Run every function forward and backward once."""
    tensors = draw(leading, T, d, h, H, H_kv, K)
    found = {name: tensor.detach() for name, tensor in tensors.items()}
    found["settings"] = torch.tensor([H, base, eps, first])
    dout = tensors.pop("dout")
    positions = torch.arange(first, first + T, dtype=torch.float64)
    for name, function in functions(tensors, H, H_kv, K, base, eps, positions).items():
        out = function(tensors["x"])
        gradients = torch.autograd.grad(
            out, list(tensors.values()), dout[..., : out.shape[-1]], allow_unused=True
        )
        found[f"{name} out"] = out.detach()
        for of, gradient in zip(tensors, gradients, strict=True):
            if gradient is not None:
                found[f"{name} d{of}"] = gradient
    return {name: tensor.numpy() for name, tensor in found.items()}


def main():
    """Write the file, or compare it with what PyTorch says here."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(22)
    found = {
        f"{case}: {name}": array
        for case, settings in CASES.items()
        for name, array in values(*settings).items()
    }
    if "--check" in sys.argv:
        with np.load(FILE) as stored:
            assert set(stored) == set(found)
            for name, array in found.items():
                np.testing.assert_allclose(array, stored[name], rtol=1e-12, atol=1e-12)
        print(f"{FILE.name} agrees with PyTorch {torch.__version__}")
        return
    np.savez_compressed(FILE, **found)


if __name__ == "__main__":
    main()
