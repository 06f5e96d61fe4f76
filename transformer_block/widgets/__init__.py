"""The living pictures: one Python class with one JavaScript module each, alive without a kernel."""

from transformer_block.widgets.rmsnorm_scope import RMSNormScope

__all__ = ["RMSNormScope"]
