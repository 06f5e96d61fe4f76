"""What one layer of a model holds: its attention and its net."""

from grader.checks.counting.models import config_of
from transformer_block.counting import count_parameters

ATTENTION = ("W_q", "W_k", "W_v", "W_o", "attention biases")
NET = ("net", "net biases", "router")


def layer(model):
    """Return the parameters of attention and of the net in one layer, norms left out."""
    parts = count_parameters(config_of(model))
    return {
        "attention": float(sum(parts[name] for name in ATTENTION) // model["n_layers"]),
        "net": float(sum(parts[name] for name in NET) // model["n_layers"]),
    }
