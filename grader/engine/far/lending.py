"""Library functions that a sheet hands out and asks for as well: called on the marking side.

The sheet's own code may use them; they are refused while an answer is judged that they would give.
When the last such answer is judged, they come over: `define` puts them in the place of what asked.
"""

from grader.engine.far.carried import define

NOTEBOOK = []  # the notebook that runs in this process


def lend(dotted, args, kwargs):
    """Call a function of the library: over there, or here if it comes."""
    if not NOTEBOOK:
        raise RuntimeError(f"{dotted} can be called in a notebook only")
    reply = NOTEBOOK[0].ask("lend", {"args": list(args), "kwargs": kwargs, "name": dotted})
    return define(reply["texts"])(*args, **kwargs) if "texts" in reply else reply["value"]
