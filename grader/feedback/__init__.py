"""One page for each student: what was won, why something was not, and what a marker wrote."""

from grader.feedback.page import feedback_page, write_feedback

__all__ = ["feedback_page", "write_feedback"]
