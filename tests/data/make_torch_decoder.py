"""Write torch_decoder.npz and torch_optimizer.json: a whole decoder and AdamW, from PyTorch.

Run with torch installed: ``python tests/data/make_torch_decoder.py``. With ``--check`` the files
are compared instead, to 1e-11, since PyTorch's own last digits differ between processors.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy, embedding, rms_norm, scaled_dot_product_attention

HERE = Path(__file__).parent
EPS, ROPE_BASE = 1e-5, 10_000.0
SIZES = {"V": 13, "d": 10, "h": 7, "K": 2, "H": 5, "blocks": 3}  # d = H · K
CASES = {  # key/value heads, untied
    "tied": (5, False),
    "untied": (5, True),
    "grouped": (1, False),
}


def random_params(n_kv_heads, untied):
    """Draw parameters of the library's names and shapes; gains that are not one."""
    V, d, h, K, H = (SIZES[name] for name in "VdhKH")
    shapes = {
        "W_q": (d, H * K), "W_k": (d, n_kv_heads * K), "W_v": (d, n_kv_heads * K),
        "W_o": (H * K, d), "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d),
        "attn_norm": (d,), "ffn_norm": (d,),
    }  # fmt: skip
    params = {"embedding": torch.randn(V, d), "final_norm": torch.randn(d)}
    for i in range(SIZES["blocks"]):
        params |= {f"blocks.{i}.{name}": torch.randn(shape) for name, shape in shapes.items()}
    if untied:
        params["head"] = torch.randn(V, d)
    return {name: tensor.requires_grad_() for name, tensor in params.items()}


def rope(x):
    """Turn the interleaved pairs of (..., T, K) as one complex number each."""
    T, K = x.shape[-2:]
    angles = torch.outer(torch.arange(T), ROPE_BASE ** (-torch.arange(0, K, 2) / K))
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def attention(x, block, n_heads):
    """Causal grouped-query attention by PyTorch's own fused function."""
    q, k, v = (x @ block[name] for name in ("W_q", "W_k", "W_v"))
    K = q.shape[-1] // n_heads
    q, k, v = (t.unflatten(-1, (-1, K)).transpose(-3, -2) for t in (q, k, v))
    out = scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True, enable_gqa=True)
    return out.transpose(-3, -2).flatten(-2) @ block["W_o"]


def decoder(ids, params, n_heads):
    """Run the decoder on flat parameters."""
    d = params["embedding"].shape[1]
    x = embedding(ids, params["embedding"])
    i = 0
    while f"blocks.{i}.W_q" in params:
        block = {name.split(".")[2]: params[name] for name in params if f"blocks.{i}." in name}
        x = x + attention(rms_norm(x, (d,), block["attn_norm"], EPS), block, n_heads)
        normed = rms_norm(x, (d,), block["ffn_norm"], EPS)
        gate = torch.nn.functional.silu(normed @ block["W_gate"])
        x = x + (gate * (normed @ block["W_up"])) @ block["W_down"]
        i += 1
    out = rms_norm(x, (d,), params["final_norm"], EPS)
    return out @ params.get("head", params["embedding"]).T


def decoder_values(n_kv_heads, untied):
    """Run one decoder forward and backward, with ids that repeat."""
    params = random_params(n_kv_heads, untied)
    ids = torch.randint(SIZES["V"] // 2, (2, 3, 11))  # few tokens: rows repeat, others never occur
    targets = torch.randint(SIZES["V"], (2, 3, 11))
    logits = decoder(ids, params, SIZES["H"])
    loss = cross_entropy(logits.flatten(0, -2), targets.flatten())
    gradients = torch.autograd.grad(loss, [*params.values()])
    found = {"ids": ids, "targets": targets, "logits": logits, "loss": loss}
    found |= {f"params.{name}": tensor for name, tensor in params.items()}
    found |= {f"grads.{name}": g for name, g in zip(params, gradients, strict=True)}
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def optimizer_values():
    """Take five clipped steps of AdamW on one matrix and one gain; record everything."""
    n_warmup, n_steps, peak = 2, 7, 0.1
    W, g = torch.randn(3, 5).requires_grad_(), torch.randn(7).requires_grad_()
    groups = [{"params": [W], "weight_decay": 0.3}, {"params": [g], "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=peak, betas=(0.8, 0.95), eps=1e-6)
    up = torch.optim.lr_scheduler.LinearLR(adamw, 1 / (n_warmup + 1), 1.0, n_warmup)
    down = torch.optim.lr_scheduler.CosineAnnealingLR(adamw, n_steps - n_warmup, 0.02)
    schedule = torch.optim.lr_scheduler.SequentialLR(adamw, [up, down], [n_warmup])
    steps, start = [], {"W": W.tolist(), "g": g.tolist()}
    for step in range(n_steps):
        W.grad, g.grad = (torch.randn_like(p) * 10.0 ** (step - 3) for p in (W, g))
        raw = {"W": W.grad.tolist(), "g": g.grad.tolist()}
        norm = torch.nn.utils.clip_grad_norm_([W, g], 1.0).item()
        clipped = {"W": W.grad.tolist(), "g": g.grad.tolist()}
        rate = adamw.param_groups[0]["lr"]
        adamw.step()
        schedule.step()
        after = {"W": W.tolist(), "g": g.tolist()}
        steps.append(
            {"grads": raw, "norm": norm, "clipped": clipped, "rate": rate, "params": after}
        )
    return {"start": start, "n_warmup": n_warmup, "n_steps": n_steps, "peak": peak, "steps": steps}


def flat(value):
    """Yield the numbers of nested lists and dicts in order."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from flat(item)
    else:
        yield value


def main():
    """Write both files, or compare them with what PyTorch says here."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(23)
    decoders = {
        f"{case}.{name}": array
        for case, (n_kv_heads, untied) in CASES.items()
        for name, array in decoder_values(n_kv_heads, untied).items()
    }
    steps = optimizer_values()
    file, steps_file = HERE / "torch_decoder.npz", HERE / "torch_optimizer.json"
    if "--check" in sys.argv:
        with np.load(file) as old:
            for name, array in decoders.items():
                np.testing.assert_allclose(array, old[name], rtol=1e-11, atol=1e-11)
        old = [*flat(json.loads(steps_file.read_text()))]
        np.testing.assert_allclose([*flat(steps)], old, rtol=1e-11, atol=1e-11)
        print(f"{file.name} and {steps_file.name} agree with PyTorch {torch.__version__}")
        return
    np.savez_compressed(file, **decoders)
    steps_file.write_text(json.dumps(steps) + "\n")


if __name__ == "__main__":
    main()
