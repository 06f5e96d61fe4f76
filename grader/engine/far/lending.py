"""Library functions that a sheet hands out and asks for as well: called on the marking side.

The sheet's own code may use them; they are refused while an answer is judged that they would give.
When the last such answer is judged, they come over and are called here.
"""

from grader.engine.far.carried import define

NOTEBOOK = []  # the notebook that runs in this process
_HERE = {}  # full names to functions that have come


def lend(dotted, args, kwargs):
    """Call a function of the library: here if it has come, or else over there."""
    if dotted not in _HERE:
        if not NOTEBOOK:
            raise RuntimeError(f"{dotted} can be called in a notebook only")
        reply = NOTEBOOK[0].ask("lend", {"args": list(args), "kwargs": kwargs, "name": dotted})
        if "texts" not in reply:
            return reply["value"]
        _HERE[dotted] = define(reply["texts"])
    return _HERE[dotted](*args, **kwargs)
