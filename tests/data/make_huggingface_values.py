"""Write huggingface_smollm2.json: tokens, logits and greedy text of SmolLM2 from transformers.

Run with torch, transformers, gguf and the library's weights at hand:
``python tests/data/make_huggingface_values.py PATH.gguf``. With ``--check`` the file is compared
instead: ids exactly, logits to 1e-3, since sums in float32 depend on the processor.
"""

import json
import sys
from pathlib import Path

import torch
import transformers

FILE = Path(__file__).with_name("huggingface_smollm2.json")
PROMPTS = ("The capital of France is", "def add(a, b):\n    return", "Once upon a time, in 1987,")
TEXTS = (
    "2018-01-22 12:12 don't  stop",
    "x = 3.14159;\n\n\tnaïve café’s 日本 🙂",
    "<|im_start|>user\nHi!<|im_end|>",
    " leading and trailing ",
    "",
)
N_NEW = 40


def logits_of(model, ids):
    """Run the model once; keep the 50 largest logits of the last position and 300 others."""
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, -1]
    draw = torch.randperm(len(logits), generator=torch.Generator().manual_seed(22))[:300]
    kept = torch.cat([logits.topk(50).indices, draw])
    return {"ids": kept.tolist(), "logits": [round(v, 6) for v in logits[kept].tolist()]}


def greedy(model, ids):
    """Continue by the likeliest token, with nothing that would change its choice."""
    out = model.generate(
        torch.tensor([ids]), max_new_tokens=N_NEW, do_sample=False, repetition_penalty=1.0
    )
    return out[0, len(ids) :].tolist()


def values(path):
    """Load the file with transformers, which undoes the quantisation, and run it in float32."""
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    prompts = {prompt: tokenizer(prompt).input_ids for prompt in PROMPTS}
    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "tokens": {text: tokenizer(text).input_ids for text in (*PROMPTS, *TEXTS)},
        "last": {prompt: logits_of(model, ids) for prompt, ids in prompts.items()},
        "greedy": {prompt: greedy(model, ids) for prompt, ids in prompts.items()},
    }


def main():
    """Write the file, or compare it with what transformers says here."""
    found = values(Path(sys.argv[1]).resolve())
    if "--check" in sys.argv:
        old = json.loads(FILE.read_text())
        assert {k: old[k] for k in ("tokens", "greedy")} == {
            k: found[k] for k in ("tokens", "greedy")
        }
        for prompt in PROMPTS:
            a, b = (torch.tensor(v["last"][prompt]["logits"]) for v in (old, found))
            torch.testing.assert_close(b, a, rtol=0, atol=1e-3)
        print(f"{FILE.name} agrees with transformers {transformers.__version__}")
        return
    FILE.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
