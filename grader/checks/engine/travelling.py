"""Functions that a case hands to an answer, and that need nothing but NumPy."""


def travels(function):
    """Let a function be sent as text to where an answer runs.

    It uses its arguments and ``np`` alone, and it tells nothing that a learner should find.
    """
    function.travels = True
    return function
