"""SwiGLU's sheet: the activation and its slope, forward, backward in two steps, the width."""

from grader.checks.swiglu.activation import SIGMOID, SILU
from grader.checks.swiglu.backward import BACKWARD
from grader.checks.swiglu.forward import FORWARD
from grader.checks.swiglu.near_zero import NEAR_ZERO
from grader.checks.swiglu.product import PRODUCT
from grader.checks.swiglu.slope import SLOPE
from grader.checks.swiglu.width import WIDTH

EXERCISES = (SIGMOID, SILU, SLOPE, FORWARD, PRODUCT, BACKWARD, NEAR_ZERO, WIDTH)
