"""Functions of the marking side that may go over as text, so that calls of them need no talk.

Two kinds may. What a check marks as `travels` makes numbers of its argument and tells nothing. What
a sheet lends goes when no answer is to be judged any more that it would give.
"""

import inspect

from grader.engine.withheld import bodies


def texts_of(function, free):
    """Return the source of a function and of what it needs, or nothing if it has to stay.

    Parameters
    ----------
    function : object
        What a test hands over.
    free : frozenset of str
        Full names of lent functions that may go.

    Returns
    -------
    texts : list of [str, str] or None
        As for `grader.engine.far.carried.define`.
    """
    if getattr(function, "travels", False) is True:
        return [["", inspect.getsource(function)]]
    dotted = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
    return bodies(dotted) if dotted in free else None
