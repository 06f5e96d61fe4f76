"""Time the block, forward and backward in float32, against its own products and against PyTorch.

Run ``python bench/block.py``; with torch installed, PyTorch is timed in the same run. Every side
has the same shapes and threads, the sides take turns, and the best time of each counts.
"""

import ctypes
import sys
import time
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np

from transformer_block._memory import PIECES
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.fast import fast_block_backward, fast_block_forward

SHAPES = {(4, 256, 512, 1408, 8): 10, (1, 16, 64, 176, 4): 300}  # (B, T, d, h, H): rounds
QUERIES = 64  # the attention products of `fast` come in blocks of so many queries


def draw(B, T, d, h):
    """Draw x, dout and the weights of one block."""
    rng = np.random.default_rng(22)
    shapes = dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (d, d))
    shapes |= {"W_gate": (d, h), "W_up": (d, h), "W_down": (h, d)}
    params = {n: rng.normal(size=s) / s[0] ** 0.5 for n, s in shapes.items()}
    params |= {"attn_norm": np.ones(d), "ffn_norm": np.ones(d)}
    x, dout = rng.normal(size=(2, B, T, d)).astype(np.float32)
    return x, dout, {name: weight.astype(np.float32) for name, weight in params.items()}


def numpy_block(forward, backward, x, dout, params, n_heads):
    """Run one of our blocks forward and backward."""
    _, cache = forward(x, params, n_heads)
    return backward(dout, cache)


def bare_products(x, params, n_heads):
    """Prepare all matrix products of one forward and backward pass, and nothing else.

    Outputs are allocated beforehand, and attention skips what the mask hides, so that this is
    the least that a block can take with this NumPy.
    """
    B, T, d = x.shape
    rows = {n: np.ones((B * T, n), np.float32) for n in {d, params["W_gate"].shape[1]}}
    back = {n: np.empty_like(array) for n, array in rows.items()}
    dW = {name: np.empty_like(weight) for name, weight in params.items()}
    heads = np.ones((B, n_heads, T, d // n_heads), np.float32)
    mixed, scores = np.empty_like(heads), np.ones((B, n_heads, T, T), np.float32)

    def run():
        for name, W in params.items():
            if W.ndim == 2:
                n, m = W.shape
                np.matmul(rows[n], W, out=back[m])
                np.matmul(rows[m], W.T, out=back[n])
                np.matmul(rows[n].T, rows[m], out=dW[name])
        for start in range(0, T, QUERIES):
            mine, seen = slice(start, start + QUERIES), slice(start + QUERIES)
            block, part = scores[..., mine, seen], heads[..., mine, :]
            for _ in range(2):  # scores; then their gradient
                np.matmul(part, heads[..., seen, :].swapaxes(-1, -2), out=block)
            for _ in range(2):  # mixing; then queries
                np.matmul(block, heads[..., seen, :], out=mixed[..., mine, :])
            for _ in range(2):  # keys and values
                np.matmul(block.swapaxes(-1, -2), part, out=mixed[..., seen, :])

    return run


def torch_block(fused, x, dout, params, n_heads):
    """Prepare the same block in PyTorch, with autograd for the way back."""
    import torch
    from torch.nn import functional as F

    torch.set_num_threads(blas()[1] or torch.get_num_threads())
    x, dout = torch.tensor(x, requires_grad=True), torch.tensor(dout)
    p = {name: torch.tensor(weight, requires_grad=True) for name, weight in params.items()}
    _, T, d = x.shape
    K = d // n_heads
    angles = torch.outer(torch.arange(T), 10_000.0 ** (-torch.arange(0, K, 2) / K))
    turn = torch.polar(torch.ones_like(angles), angles)
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)

    def heads(x, name):
        return (x @ p[name]).unflatten(-1, (n_heads, K)).transpose(1, 2)

    def rope(x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turn).flatten(-2)

    def attend(q, k, v):
        if fused:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = (q @ k.transpose(-1, -2) * K**-0.5).masked_fill(hidden, -torch.inf)
        return scores.softmax(-1) @ v

    def run():
        n = F.rms_norm(x, (d,), p["attn_norm"], 1e-5)
        mixed = attend(rope(heads(n, "W_q")), rope(heads(n, "W_k")), heads(n, "W_v"))
        u = x + mixed.transpose(1, 2).flatten(-2) @ p["W_o"]
        n = F.rms_norm(u, (d,), p["ffn_norm"], 1e-5)
        out = u + (F.silu(n @ p["W_gate"]) * (n @ p["W_up"])) @ p["W_down"]
        dx, *dparams = torch.autograd.grad(out, (x, *p.values()), dout)
        return dx.numpy(), {n: g.numpy() for n, g in zip(p, dparams, strict=True)}

    return run


def blas():
    """Name OpenBLAS's kernel and its threads, where the system tells which library is loaded."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    for path in {line.split()[-1] for line in lines if "openblas" in line}:
        library = ctypes.CDLL(path)
        name = getattr(library, "scipy_openblas_get_corename64_", None)
        threads = getattr(library, "scipy_openblas_get_num_threads64_", None)
        if name and threads:
            name.restype = ctypes.c_char_p
            return name().decode(), threads()
    return "unknown", None


def best_times(sides, rounds):
    """Time the sides in turns, each after one untimed run, and keep the best of each."""
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, run in sides.items():
            run()
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_of_backward(forward, backward, x, dout, params, n_heads):
    """Measure the peak of the backward pass over what the caches hold, in bytes over bytes."""
    PIECES.pieces.clear()  # what earlier calls left would not be counted
    tracemalloc.start()
    cache = forward(x, params, n_heads)[1]
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    backward(dout, cache)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / held


def main():
    """Print times, ratios and peaks for both shapes."""
    print("OpenBLAS kernel {}, {} threads; NumPy {}".format(*blas(), np.__version__))
    for (B, T, d, h, n_heads), rounds in SHAPES.items():
        x, dout, params = draw(B, T, d, h)
        ours = {
            "fast": (fast_block_forward, fast_block_backward),
            "listing": (transformer_block_forward, transformer_block_backward),
        }
        sides = {n: partial(numpy_block, *f, x, dout, params, n_heads) for n, f in ours.items()}
        sides["bare products"] = bare_products(x, params, n_heads)
        try:
            for name, fused in (("PyTorch, explicit", False), ("PyTorch, fused", True)):
                sides[name] = torch_block(fused, x, dout, params, n_heads)
        except ModuleNotFoundError:
            print("PyTorch is not installed: its two lines are left out", file=sys.stderr)
        times = best_times(sides, rounds)
        print(f"\n(B, T, d, h, heads) = {B, T, d, h, n_heads}   ms   fast takes  listing takes")
        for name, seconds in times.items():
            fast, listing = times["fast"] / seconds, times["listing"] / seconds
            print(f"{name:24} {1e3 * seconds:16.3f} {fast:10.2f} ×  {listing:10.2f} ×")
        for name, functions in ours.items():
            peak = peak_of_backward(*functions, x, dout, params, n_heads)
            print(f"peak of the backward pass over the caches, {name}: {peak:.2f} ×")


if __name__ == "__main__":
    main()
