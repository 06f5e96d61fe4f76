"""The living pictures: one Python class with one JavaScript module each, alive without a kernel."""

from transformer_block.widgets.attention_map import AttentionMap
from transformer_block.widgets.block_stepper import BlockStepper
from transformer_block.widgets.counting_ledger import CountingLedger
from transformer_block.widgets.gate_map import GateMap
from transformer_block.widgets.gate_scope import GateScope
from transformer_block.widgets.gradcheck_dial import GradCheckDial
from transformer_block.widgets.rmsnorm_scope import RMSNormScope
from transformer_block.widgets.rope_dial import RoPEDial
from transformer_block.widgets.stream_ledger import StreamLedger
from transformer_block.widgets.wiring import Wiring

__all__ = [
    "AttentionMap",
    "BlockStepper",
    "CountingLedger",
    "GateMap",
    "GateScope",
    "GradCheckDial",
    "RMSNormScope",
    "RoPEDial",
    "StreamLedger",
    "Wiring",
]
