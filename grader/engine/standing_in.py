"""What stands on the marking side for objects that stay in the sandbox."""


class Far:
    """Stands for an object that stays in the sandbox."""

    is_far = True

    def __deepcopy__(self, memo):
        """Copy the object where it is; the copy gets a stand-in of its own."""
        return self.link.copy(self)

    def __reduce_ex__(self, protocol):
        """Refuse to be taken elsewhere."""
        raise TypeError("an object of a student's notebook cannot be pickled")


class Function(Far):
    """A student's function: a call is answered in the sandbox."""

    def __init__(self, link, number, name):
        self.link, self.number_there = link, number
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        """Send the arguments over, and bring the result back."""
        return self.link.call(self, args, kwargs)

    def __deepcopy__(self, memo):
        """Return the function itself, as for every function."""
        return self


def _untold(name):
    def method(self, *args):
        self.link.untold = True
        raise TypeError(f"a {type(self).__name__} of the notebook cannot be looked into from here")

    method.__name__ = name
    return method


class Opaque(Far):
    """An object that cannot cross: it can be handed back, and nothing else."""

    def __init__(self, link, number):
        self.link, self.number_there = link, number

    def __getattr__(self, name):
        """Remember that a test wanted to look inside."""
        if not name.startswith("__"):
            self.link.untold = True
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r} that can be seen")

    for _name in ("len", "iter", "getitem", "call", "add", "radd", "mul", "rmul", "lt", "gt"):
        locals()[f"__{_name}__"] = _untold(f"__{_name}__")
    del _name


def _kept_kinds():
    """Make a class for tuples, lists, … that are of another class over there."""
    return {
        kind: type(f"Kept{kind.__name__.capitalize()}", (kind,), {"is_far": True})
        for kind in (tuple, list, dict, float, int, str)
    }


KEPT = _kept_kinds()
