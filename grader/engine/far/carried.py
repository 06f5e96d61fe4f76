"""Functions that came as text: what the marking side need not keep to itself runs here.

A call over there costs a thousand times a small sum, and a gradient check calls a loss at every
entry of every array.
"""

import importlib
from types import FunctionType

import numpy as np

_HERE = {}  # texts to the function that they define


class Carried:
    """A function of the marking side that is called here.

    Parameters
    ----------
    number : int
        Its number over there.
    name : str
        Its name.
    texts : list of [str, str]
        As for `define`.
    """

    is_far = True

    def __init__(self, number, name, texts):
        self.number_there = number
        self.__name__ = name
        self.function = define(texts)

    def __call__(self, *args, **kwargs):
        """Call the function."""
        return self.function(*args, **kwargs)

    def __deepcopy__(self, memo):
        """Return the function itself, as for every function."""
        return self


def define(texts):
    """Define functions, and return the last one.

    Parameters
    ----------
    texts : list of [str, str]
        Module of the library, or nothing, and the source of one function of it.

    Returns
    -------
    function : callable
        The last of them.
    """
    key = tuple(map(tuple, texts))
    if key not in _HERE:
        for module, source in texts:
            function = _define_in(module, source) if module else _define_alone(source)
        _HERE[key] = function
    return _HERE[key]


def _define_alone(source):
    """Define a function that needs NumPy and nothing else."""
    names = {"np": np, "travels": lambda function: function}
    exec(source, names)
    return names[_name(source)]


def _define_in(module, source):
    """Define a function of the library; whoever holds its empty form has the real one then."""
    name, home = _name(source), vars(importlib.import_module(module))
    empty = home.get(name)
    exec(source, home)
    real = home[name]
    if type(real) is type(empty) is FunctionType and empty.__globals__ is home:
        empty.__code__, empty.__defaults__ = real.__code__, real.__defaults__
        empty.__kwdefaults__ = real.__kwdefaults__
        home[name] = empty
    return home[name]


def _name(source):
    """Return the name of the one function that a text defines."""
    return source.partition("def ")[2].partition("(")[0]
