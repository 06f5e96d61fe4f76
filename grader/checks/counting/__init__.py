"""Counting's sheet: a block, a layer, a model, FLOPs, a context length, a width, a budget."""

from grader.checks.counting.balance import BALANCE
from grader.checks.counting.block import BLOCK
from grader.checks.counting.budget import BUDGET
from grader.checks.counting.flops import FLOPS
from grader.checks.counting.layer import LAYER
from grader.checks.counting.model import MODEL
from grader.checks.counting.width import WIDTH

EXERCISES = (BLOCK, LAYER, MODEL, FLOPS, BALANCE, WIDTH, BUDGET)
