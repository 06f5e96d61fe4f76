"""The sheet from nanoGPT to Llama: the old block, shared heads, layouts, lost gains, a real run."""

from grader.checks.llama.gains import GAINS
from grader.checks.llama.layouts import HALF_SPLIT, INTERLEAVED
from grader.checks.llama.old_block import OLD_BLOCK
from grader.checks.llama.running import RUNNING
from grader.checks.llama.sharing import REPEAT, REPEAT_BACKWARD

EXERCISES = (OLD_BLOCK, REPEAT, REPEAT_BACKWARD, HALF_SPLIT, INTERLEAVED, GAINS, RUNNING)
