"""The stack's sheet: both ends, the loss, the whole way back, a training run, and writing on."""

from grader.checks.stack.generation import GENERATION
from grader.checks.stack.head import FORWARD as LOGITS_FORWARD
from grader.checks.stack.head_backward import BACKWARD as LOGITS_BACKWARD
from grader.checks.stack.lookup import FORWARD
from grader.checks.stack.loss import LOSS
from grader.checks.stack.loss_gradient import GRADIENT
from grader.checks.stack.probabilities import PROBABILITIES
from grader.checks.stack.scatter import BACKWARD
from grader.checks.stack.training import TRAINING
from grader.checks.stack.whole import WHOLE

EXERCISES = (
    FORWARD,
    BACKWARD,
    LOGITS_FORWARD,
    LOGITS_BACKWARD,
    LOSS,
    GRADIENT,
    WHOLE,
    TRAINING,
    PROBABILITIES,
    GENERATION,
)
