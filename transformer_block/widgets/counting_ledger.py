"""Counting ledger: what the shape of a model costs, in parameters and in FLOPs of a token."""

from dataclasses import fields

import anywidget
import traitlets

from transformer_block.config import ModelConfig, published_models
from transformer_block.widgets._base import self_contained, stylesheet

WORDS = ("model", "norm", "activation", "position")
LEFT_OUT = (*WORDS, "n_experts", "total_params_published")
KEYS = tuple(field.name for field in fields(ModelConfig) if field.name not in LEFT_OUT)
PRESETS = (
    "GPT-2 small", "GPT-2 xl", "SmolLM2-135M", "LLaMA-1/2 7B", "Llama-3 / 3.1 8B", "Gemma-1 7B",
)  # fmt: skip


class CountingLedger(anywidget.AnyWidget):
    """Count the parameters of a model and the FLOPs of one token of training, part by part.

    Parameters
    ----------
    config : ModelConfig, optional
        The model to begin with, of one net a layer; Llama-2-7B without it.
    T : int
        Tokens in a sequence; positive.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("counting_ledger")
    _css = stylesheet("counting_ledger")

    shape = traitlets.Dict().tag(sync=True)
    T = traitlets.Int(4096).tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)

    def __init__(self, config=None, **traits):
        models = published_models()
        config = models["LLaMA-1/2 7B"] if config is None else config
        if config.n_experts != 1:
            raise traitlets.TraitError(f"n_experts must be 1: got {config.n_experts}")
        presets = {name: [*numbers_of(models[name]).values()] for name in PRESETS}
        super().__init__(shape=numbers_of(config), presets=presets, **traits)

    @traitlets.validate("shape")
    def _check_shape(self, proposal):
        try:
            config_of(proposal.value)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"shape is no model: {error}") from None
        return proposal.value

    @traitlets.validate("T")
    def _check_T(self, proposal):
        if proposal.value < 1:
            raise traitlets.TraitError(f"T must be at least 1: got {proposal.value}")
        return proposal.value


def numbers_of(config):
    """Take the numbers that are counted with out of a configuration, by name, as integers."""
    return {key: int(getattr(config, key)) for key in KEYS}


def config_of(shape):
    """Turn such numbers into a configuration of one net a layer."""
    words = dict.fromkeys(WORDS, "")
    return ModelConfig(**words, n_experts=1, total_params_published=0, **shape)
