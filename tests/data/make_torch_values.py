"""Write torch_norms.json: inputs, outputs and gradients of both norms, from PyTorch in float64.

Run with torch installed: ``python tests/data/make_torch_values.py``. With ``--check`` the file is
compared instead, to 1e-12, since PyTorch's own last digits differ between processors.
"""

import json
import sys
from pathlib import Path

import torch
from torch.nn.functional import layer_norm, rms_norm

FILE = Path(__file__).with_name("torch_norms.json")
CASES = {  # name: (shape, scale, mean, eps)
    "ordinary": ((2, 3, 5), 1.0, 0.4, 1e-5),
    "tiny": ((3, 7), 1e-4, 0.0, 1e-5),
    "large": ((2, 11), 1e4, 3e3, 1e-5),
    "eps counts": ((3, 2, 7), 1.0, -0.4, 0.1),
    "one row": ((13,), 2.0, 1.0, 1e-6),
}


def values(shape, scale, mean, eps):
    """Run both norms forward and backward once."""
    d = shape[-1]
    x = (torch.randn(shape) * scale + mean).requires_grad_()
    weight, bias = torch.randn(d).requires_grad_(), torch.randn(d).requires_grad_()
    dout = torch.randn(shape)
    rms = rms_norm(x, (d,), weight, eps)
    layer = layer_norm(x, (d,), weight, bias, eps)
    rms_gradients = torch.autograd.grad(rms, (x, weight), dout)
    layer_gradients = torch.autograd.grad(layer, (x, weight, bias), dout)
    found = {
        "x": x, "weight": weight, "bias": bias, "dout": dout,
        "rms_out": rms, "rms_dx": rms_gradients[0], "rms_dweight": rms_gradients[1],
        "layer_out": layer, "layer_dx": layer_gradients[0],
        "layer_dweight": layer_gradients[1], "layer_dbias": layer_gradients[2],
    }  # fmt: skip
    return {"eps": eps, **{name: tensor.detach().tolist() for name, tensor in found.items()}}


def flat(value):
    """Yield the numbers of nested lists and dicts in order."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from flat(item)
    elif not isinstance(value, str):
        yield value


def main():
    """Write the file, or compare it with what PyTorch says here."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(22)
    found = {name: values(*case) for name, case in CASES.items()}
    if "--check" in sys.argv:
        old, new = (torch.tensor(list(flat(v))) for v in (json.loads(FILE.read_text()), found))
        torch.testing.assert_close(new, old, rtol=1e-12, atol=1e-12)
        print(f"{FILE.name} agrees with PyTorch {torch.__version__}")
        return
    FILE.write_text(json.dumps({"torch": torch.__version__, **found}) + "\n")


if __name__ == "__main__":
    main()
