"""Time greedy generation with a real model, against Hugging Face transformers and the memory.

Run ``python bench/generate.py``. With ``--other PYTHON``, a Python that has torch, transformers
and gguf, transformers' ``generate`` is timed in the same run: each side in a process of its own,
with the same threads, the sides take turns, and the best time of each counts.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PROMPT = "Once upon a time, in 1987,"
FEW, MANY = 1, 33  # tokens; the difference is the cost of MANY - FEW tokens without the prompt
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count())


def ours(path):
    """Load the model here; return what writes n tokens."""
    from transformer_block.fast_generate import fast_generate
    from transformer_block.gguf import load_gguf

    model = load_gguf(path)
    ids = model.tokenizer.encode(PROMPT)
    return lambda n: fast_generate(ids, model.params, n_new=n, **model.settings)[
        len(ids) :
    ].tolist()


def theirs(path):
    """Load the model with transformers; return what writes n tokens."""
    import torch
    import transformers

    torch.set_num_threads(THREADS)
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    ids = torch.tensor([transformers.AutoTokenizer.from_pretrained(**source)(PROMPT).input_ids])

    def write(n):
        out = model.generate(
            ids, min_new_tokens=n, max_new_tokens=n, do_sample=False, repetition_penalty=1.0
        )
        return out[0, ids.shape[1] :].tolist()

    return write


def serve(write):
    """Answer each line with a number of tokens by the seconds they took and the tokens."""
    for line in sys.stdin:
        start = time.perf_counter()
        tokens = write(int(line))
        print(time.perf_counter() - start, *tokens, flush=True)


class Side:
    """One side in a process of its own, which sleeps while the other one is timed."""

    def __init__(self, python, name, path, n_threads):
        """Start the process; it loads the model."""
        command = [python, __file__, "--serve", name, "--weights", path]
        root = str(Path(__file__).parent.parent)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(n_threads))
        environment = {**os.environ, "PYTHONPATH": root, "HF_HUB_OFFLINE": "1", **threads}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        pipes["stderr"] = subprocess.DEVNULL if name == "theirs" else None  # progress bars
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)

    def ask(self, n):
        """Let it write n tokens; return the seconds and the tokens."""
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        seconds, *tokens = self.process.stdout.readline().split() or sys.exit(
            f"{self.process.args[0]} ended: does it have what it needs to load the model?"
        )
        return float(seconds), tokens

    def best_times(self, best):
        """Time few and many tokens once more; return the better times and the many tokens."""
        few, _ = self.ask(FEW)
        many, tokens = self.ask(MANY)
        return (min(best[0], few), min(best[1], many)), tokens


def bandwidth(n_bytes, n_threads):
    """Measure how fast so many threads together read memory, in bytes per second."""
    parts = np.ones(n_bytes // 4, np.float32).reshape(n_threads, -1)
    best = float("inf")
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(np.max, parts))  # NumPy lets go of the lock while it reads
            best = min(best, time.perf_counter() - start)
    return parts.nbytes / best


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", help="a Python with torch, transformers and gguf")
    parser.add_argument("--weights", type=Path, help="the GGUF file; fetched if not given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=THREADS, help="for every side")
    parser.add_argument("--serve", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        return serve({"ours": ours, "theirs": theirs}[asked.serve](asked.weights))
    from transformer_block.pretrained import fetch_weights

    path = (asked.weights or fetch_weights()).resolve()
    pythons = {"ours": sys.executable, "theirs": asked.other}
    sides = {
        name: Side(python, name, path, asked.threads) for name, python in pythons.items() if python
    }
    for side in sides.values():
        side.ask(FEW)  # until both are loaded and warm
    report(sides, asked.rounds, asked.threads)
    return None


def report(sides, rounds, n_threads):
    """Time the sides in turns and print rates and ratios."""
    n_bytes = 4 * 134_515_008  # every weight is read once a token, the embedding as head
    times, speed, texts = dict.fromkeys(sides, (float("inf"), float("inf"))), 0.0, {}
    for _ in range(rounds):
        for name, side in sides.items():
            times[name], texts[name] = side.best_times(times[name])
        speed = max(speed, bandwidth(n_bytes, n_threads))
    print(f"memory, {n_threads} threads: {speed / 1e9:.1f} GB/s, so at most "
          f"{speed / n_bytes:.1f} tokens/s in float32")  # fmt: skip
    best = {name: (many - few) / (MANY - FEW) for name, (few, many) in times.items()}
    for name, seconds in best.items():
        share = n_bytes / seconds / speed
        print(f"{name:>6}: {1 / seconds:5.1f} tokens/s, {share:.0%} of the memory's speed")
    if "theirs" in best:
        print(f"ours over theirs: {best['theirs'] / best['ours']:.2f}; same tokens: "
              f"{texts['ours'] == texts['theirs']}")  # fmt: skip


if __name__ == "__main__":
    main()
