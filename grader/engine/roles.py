"""What a cell of the master is for."""

GRADED, HAND, ANSWER, LOCKED, FREE = "graded", "hand", "answer", "locked", "free"
