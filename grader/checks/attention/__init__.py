"""Attention's sheet: mask, softmax, RoPE, mixing and the whole layer, forward and backward."""

from grader.checks.attention.angles import ANGLES
from grader.checks.attention.backward import BACKWARD
from grader.checks.attention.forward import FORWARD
from grader.checks.attention.mask import MASK
from grader.checks.attention.mixing import MIXING
from grader.checks.attention.softmax import SOFTMAX
from grader.checks.attention.softmax_backward import SOFTMAX_BACKWARD
from grader.checks.attention.turn import TURN

EXERCISES = (MASK, SOFTMAX, ANGLES, TURN, MIXING, FORWARD, SOFTMAX_BACKWARD, BACKWARD)
