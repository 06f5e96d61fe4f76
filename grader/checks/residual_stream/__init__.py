"""The residual stream's sheet: both updates, the way back, who wrote what, gradients by depth."""

from grader.checks.residual_stream.backward import BACKWARD
from grader.checks.residual_stream.by_depth import BY_DEPTH
from grader.checks.residual_stream.ledger import LEDGER
from grader.checks.residual_stream.post_norm import POST_NORM
from grader.checks.residual_stream.pre_norm import PRE_NORM
from grader.checks.residual_stream.shares import SHARES

EXERCISES = (PRE_NORM, POST_NORM, BACKWARD, LEDGER, SHARES, BY_DEPTH)
