"""The block's sheet: forward, backward, the tools of a gradient check, and faults to find."""

from grader.checks.block.backward import BACKWARD
from grader.checks.block.comparison import COMPARISON
from grader.checks.block.distance import DISTANCE
from grader.checks.block.faults import FAULTS
from grader.checks.block.forward import FORWARD
from grader.checks.block.slopes import SLOPES
from grader.checks.block.whole import WHOLE

EXERCISES = (FORWARD, BACKWARD, SLOPES, DISTANCE, COMPARISON, WHOLE, FAULTS)
