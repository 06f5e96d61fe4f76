"""The shapes that docstrings promise are the shapes that come back."""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest
from numpydoc.docscrape import FunctionDoc

import transformer_block

PRIMES = {"T": 3, "d": 7}
LEADING = {"one": (5,), "two": (5, 2), "none": ()}


def public_functions():
    for module in pkgutil.iter_modules(transformer_block.__path__):
        if not module.ispkg and not module.name.startswith("_"):
            loaded = importlib.import_module(f"transformer_block.{module.name}")
            for name, function in inspect.getmembers(loaded, inspect.isfunction):
                if function.__module__ == loaded.__name__ and not name.startswith("_"):
                    yield pytest.param(function, id=f"{module.name}.{name}")


FUNCTIONS = list(public_functions())


def shape_in(text, leading):
    """Read ``ndarray of float, shape (..., T, d)`` as a shape; ``None`` if it is no array."""
    found = re.search(r"shape \(([^)]*)\)", text)
    if not found:
        return None
    axes = [axis.strip() for axis in found[1].split(",") if axis.strip()]
    shape = []
    for axis in axes:
        shape += leading if axis == "..." else [PRIMES[axis] if axis in PRIMES else int(axis)]
    return tuple(shape)


def example(parameter, function, leading, rng):
    """Make an argument of what its docstring says."""
    shape = shape_in(parameter.type, leading)
    if shape is not None:
        return rng.normal(size=shape)
    makers = {
        "callable": lambda: CALLABLES[function.__name__],
        "dict": lambda: {"t": np.ones((2, 3))},
        "tuple": lambda: cache_for(function, leading, rng),
        "float": lambda: inspect.signature(function).parameters[parameter.name].default,
    }
    return makers[parameter.type]()


CALLABLES = {
    "numerical_gradient": lambda t: float(np.sum(t)),
    "gradient_check": lambda tensors: float(np.sum(tensors["t"])),
}


def cache_for(backward, leading, rng):
    module = inspect.getmodule(backward)
    forward = getattr(module, backward.__name__.replace("_backward", "_forward"))
    return call(forward, leading, rng)[1]


def call(function, leading, rng):
    doc = FunctionDoc(function)
    return function(*(example(p, function, leading, rng) for p in doc["Parameters"]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_parameters_are_documented_in_order(function):
    documented = [p.name for p in FunctionDoc(function)["Parameters"]]
    assert documented == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_raises_says_so(function):
    raises = "ValueError" in inspect.getsource(function) or "require_" in inspect.getsource(
        function
    )
    assert bool(FunctionDoc(function)["Raises"]) >= raises


@pytest.mark.parametrize("leading", [*LEADING.values()], ids=[*LEADING])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_comes_back_has_the_documented_shape(function, leading):
    result = call(function, list(leading), np.random.default_rng(0))
    returns = FunctionDoc(function)["Returns"]
    results = result if len(returns) > 1 else (result,)
    assert len(results) == len(returns)
    for value, documented in zip(results, returns, strict=True):
        shape = shape_in(documented.type, list(leading))
        if shape is not None:
            assert np.shape(value) == shape, documented.name
