"""RMSNorm's sheet: forward, the derivation of (22.3) step by step, backward, LayerNorm."""

from grader.checks.rmsnorm.backward import BACKWARD
from grader.checks.rmsnorm.derivation import GRADIENT, HALF, JACOBIAN, VJP
from grader.checks.rmsnorm.forward import FORWARD
from grader.checks.rmsnorm.layernorm import LAYERNORM

EXERCISES = (FORWARD, HALF, GRADIENT, JACOBIAN, VJP, BACKWARD, LAYERNORM)
