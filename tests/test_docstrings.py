"""The shapes that docstrings promise are the shapes that come back."""

import importlib
import inspect
import pkgutil
import re
from math import prod

import numpy as np
import pytest
from numpydoc.docscrape import FunctionDoc

import transformer_block

SIZES = {
    "T": 3,
    "d": 7,
    "h": 11,
    "V": 19,
    "S": 23,
    "H": 4,
    "H_kv": 2,
    "K": 6,
    "N": 8,
}  # no two alike
COUNTS = {"n_heads": "H", "n_kv_heads": "H_kv"}
LEADING = {"one": (5,), "two": (5, 13), "none": ()}


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
        shape += leading if axis == "..." else [size_of(axis)]
    return tuple(shape)


def promises_a_shape(function):
    return any(shape_in(result.type, []) is not None for result in FunctionDoc(function)["Returns"])


def size_of(axis):
    """Read ``d``, ``1``, ``H·K`` or ``K/2`` as a number."""
    whole, _, part = axis.partition("/")
    return prod(SIZES.get(f, 0) or int(f) for f in whole.split("·")) // int(part or 1)


def example(parameter, function, leading, rng):
    """Make an argument of what its docstring says."""
    default = inspect.signature(function).parameters[parameter.name].default
    if default is not inspect.Parameter.empty:
        return default
    shape = shape_in(parameter.type, leading)
    if shape is not None:
        made = rng.normal(size=shape)
        return made if "float" in parameter.type else np.argsort(made, axis=-1)
    makers = {
        "callable": lambda: CALLABLES.get(function.__name__, np.array),
        "list of callable": lambda: [np.array] * SIZES["N"],
        "dict": lambda: weights_in(description(parameter), rng),
        "tuple": lambda: cache_for(function, leading, rng),
        "float": lambda: 1.0,
        "int": lambda: SIZES[COUNTS.get(parameter.name, parameter.name)],
    }
    return makers[parameter.type]()


def weights_in(text, rng):
    """Read ``W_gate`` (d, h), ``W_down`` (h, d) as a dict of weights."""
    named = re.findall(r"``(\w+)`` (\([^)]*\))", text)
    found = {name: rng.normal(size=shape_in(f"shape {shape}", [])) for name, shape in named}
    for name in re.findall(r"``blocks``, a list of L dicts as `(\w+)` takes", text):
        block = weights_in(description_in(name, "params"), rng)
        found["blocks"] = [block, block, block]
    return found or {"t": np.ones((2, 3))}


def description(parameter):
    """Return what is said of a parameter, where it is said: ``As in `f`.`` leads there."""
    text = " ".join(parameter.desc)
    elsewhere = re.match(r"As in `(\w+)`", text)
    return description_in(elsewhere[1], parameter.name) if elsewhere else text


def description_in(name, parameter):
    documented = FunctionDoc(function_named(name))["Parameters"]
    return next(description(p) for p in documented if p.name == parameter)


def function_named(name):
    return next(f.values[0] for f in FUNCTIONS if f.values[0].__name__ == name)


CALLABLES = {
    "numerical_gradient": lambda t: float(np.sum(t)),
    "gradient_check": lambda tensors: float(np.sum(tensors["t"])),
    "stack_logits": lambda x, block, number: x,
}


def cache_for(backward, leading, rng):
    """Make a cache by the forward pass that the docstring names, or by that of the same name."""
    named = re.search(r"from `(\w+_forward)`", description_in(backward.__name__, "cache"))
    name = named[1] if named else backward.__name__.replace("_backward", "_forward")
    forward = getattr(inspect.getmodule(backward), name, None) or function_named(name)
    return call(forward, leading, rng)[1]


def call(function, leading, rng):
    doc = FunctionDoc(function)
    return function(*(example(p, function, leading, rng) for p in doc["Parameters"]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_parameters_are_documented_in_order(function):
    documented = [p.name.lstrip("*") for p in FunctionDoc(function)["Parameters"]]
    assert documented == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_raises_says_so(function):
    raises = "ValueError" in inspect.getsource(function) or "require_" in inspect.getsource(
        function
    )
    assert bool(FunctionDoc(function)["Raises"]) >= raises


@pytest.mark.parametrize("leading", [*LEADING.values()], ids=[*LEADING])
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if promises_a_shape(*f.values)])
def test_what_comes_back_has_the_documented_shape(function, leading):
    result = call(function, list(leading), np.random.default_rng(0))
    returns = FunctionDoc(function)["Returns"]
    results = result if len(returns) > 1 else (result,)
    assert len(results) == len(returns)
    for value, documented in zip(results, returns, strict=True):
        shape = shape_in(documented.type, list(leading))
        if shape is not None:
            assert np.shape(value) == shape, documented.name
