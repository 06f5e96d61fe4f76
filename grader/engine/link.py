"""The near end of the talk with a student's notebook, and what stands for its objects here."""

import builtins
import contextlib
import importlib
import time
import traceback
import warnings

import numpy as np

from grader.engine.far import values
from grader.engine.far.errors import describe_error
from grader.engine.far.notebook import MOST_WARNINGS
from grader.engine.far.talk import Peer
from grader.engine.far.wire import Garbled, Gone, Late
from grader.engine.jail import Lost
from grader.engine.limits import GRACE
from grader.engine.reading import clean
from grader.records import CRASHED, TIMED_OUT

MOST_TEXT = 2000  # characters of an error or a warning
ENDINGS = (StopIteration, StopAsyncIteration)  # raised here, they would end a test's own loops


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


class Link:
    """The near end.

    Parameters
    ----------
    sock : socket
        Connected to the notebook's process.
    watch : callable
        Called now and then while nothing comes; raises `Lost` to give up.
    """

    def __init__(self, sock, watch=lambda: None):
        self.sock = sock
        self.peer = Peer(sock, self._stand_in, self._serve)
        self.peer.line.watch = watch
        self.untold = False  # whether a test looked for something that does not cross
        self.wrote = False  # whether a call changed its arguments
        self.write_back = True
        self.lent = {}  # library functions that may be called, and what they would give away
        self.judged = frozenset()  # names that are judged now
        self.deadline = time.monotonic()

    def begin_test(self, judged, write_back):
        """Get ready for a graded cell: what an earlier one handed over can be called no more.

        A test may hand over the very function that another one asks for.
        """
        self.untold = self.wrote = False
        self.judged, self.write_back = judged, write_back
        self.peer.owned.let_go()

    def close(self):
        """End the talk."""
        self.sock.close()

    def allow(self, seconds):
        """Set the time that all requests from now on may take together."""
        self.deadline = time.monotonic() + seconds
        self.peer.line.deadline = self.deadline + GRACE

    @property
    def left(self):
        """Seconds left."""
        return max(0.05, self.deadline - time.monotonic())

    def run(self, source):
        """Run a cell over there; return what it showed and its error."""
        return _told(self._ask("run", {"source": source, "limit": self.left}))

    def fetch(self, name):
        """Return whether a name is there, and its value or what stands for it."""
        answer = self._ask("fetch", name)
        if not isinstance(answer, dict) or type(answer.get("there")) is not bool:
            raise Lost(CRASHED, "the notebook's process sent no answer")
        value = answer.get("value")
        if self.peer.owned.holds(value):
            raise Lost(CRASHED, f"{name} is not the notebook's own")
        if isinstance(value, Function):
            value.__name__ = value.__qualname__ = name
        return answer["there"], value

    def copy(self, thing):
        """Return a copy of an object over there."""
        return self._ask("copy", thing)

    def call(self, function, args, kwargs):
        """Call a function over there; raise what it raised; change what it changed."""
        request = {"args": list(args), "kwargs": kwargs, "function": function, "limit": self.left}
        reply = self._ask("call", request)
        if not isinstance(reply, dict):
            raise Lost(CRASHED, "the notebook's process sent no reply")
        for text in _listed(reply.get("warned"), MOST_WARNINGS):
            warnings.warn(_short(text), RuntimeWarning, stacklevel=3)
        self._write_back(reply.get("changed"), args, kwargs)
        if reply.get("error") is not None:
            raise error_from(reply["error"])
        if "value" not in reply:
            raise Lost(CRASHED, "the notebook's process sent no value")
        return reply["value"]

    def _write_back(self, changed, args, kwargs):
        """Change arguments in place as they were changed over there."""
        if not isinstance(changed, dict):
            return
        self.wrote = True
        if not self.write_back:
            return
        for old, new in zip(args, changed.get("args") or (), strict=False):
            values.copy_into(old, new)
        news = changed.get("kwargs")
        for name, new in (news if isinstance(news, dict) else {}).items():
            values.copy_into(kwargs.get(name), new)

    def _ask(self, kind, value):
        try:
            return self.peer.ask(kind, value)
        except Late as trouble:
            raise Lost(TIMED_OUT, "it had to be stopped") from trouble
        except Gone as trouble:
            raise Lost(CRASHED, "its process ended") from trouble
        except (Garbled, MemoryError, RecursionError) as trouble:
            raise Lost(CRASHED, "its process sent what no notebook sends") from trouble

    def _serve(self, kind, request):
        """Answer a call of a function that was passed as an argument."""
        try:
            if kind == "lend":
                return {"value": self._lend(request)}
            if kind != "call":
                raise Garbled("no such request")
            function, args = request["function"], request["args"]
            if not self.peer.owned.holds(function):
                raise Garbled("no function of ours")
            return {"value": function(*args, **request["kwargs"])}
        except Exception as error:
            return {"error": describe_error(error)}

    def _lend(self, request):
        """Call a library function for the notebook, unless it would answer what is judged."""
        dotted = request["name"]
        if dotted not in self.lent or self.lent[dotted] & self.judged:
            raise RuntimeError(f"{dotted} is not there while this answer is judged")
        module, _, name = dotted.rpartition(".")
        function = getattr(importlib.import_module(module), name)
        return function(*request["args"], **request["kwargs"])

    def _stand_in(self, number, facts, value):
        """Make what stands for an object over there."""
        kind = KEPT.get(type(value))
        if kind is not None:
            kept = kind(value)
            kept.number_there = number
            return kept
        if facts["callable"]:
            return Function(self, number, clean(facts["name"]))
        name = facts["kind"] if facts["kind"].isidentifier() else "object"
        return type(name, (Opaque,), {})(self, number)


def _told(answer):
    """Check the form of what a cell showed."""
    if not isinstance(answer, dict) or not isinstance(answer.get("outputs"), list):
        raise Lost(CRASHED, "the notebook's process sent no outputs")
    return {"outputs": answer["outputs"], "error": _error(answer.get("error"))}


def _error(told):
    """Return what is told of an error in a form that can be relied on."""
    if not isinstance(told, dict):
        return None
    frames = [frame for frame in _listed(told.get("frames"), 20) if isinstance(frame, list)]
    return {
        "type": _short(told.get("type"))[:100],
        "bases": [base for base in _listed(told.get("bases"), 20) if isinstance(base, str)],
        "text": _short(told.get("text")),
        "frames": [
            (line, _short(name)[:100], _short(text)[:200])
            for line, name, text in (frame for frame in frames if len(frame) == 3)
            if type(line) is int
        ],
    }


def _listed(value, most):
    """Return the first items of a list; nothing where the other side sent no list."""
    return value[:most] if type(value) is list else []


def _short(value):
    """Return a text that is fit to be written, and not without end."""
    return clean(value[:MOST_TEXT]) if isinstance(value, str) else ""


def error_from(told):
    """Make the exception that a student's code raised, with the lines that led to it."""
    told = _error(told)
    if told is None:
        raise Lost(CRASHED, "the notebook's process sent no error")
    if told["type"] == "TimeUp":
        raise Lost(TIMED_OUT, "it was interrupted", lives=True)
    error = _kind_of(told)(told["text"])
    error.student_frames = [
        traceback.FrameSummary("<notebook>", line, name, lookup_line=False, line=text)
        for line, name, text in told["frames"]
    ]
    return error


def _kind_of(told):
    """Find or make the class of an exception: builtin ones are the real ones."""
    known = [getattr(builtins, base, None) for base in told["bases"]]
    known = [kind for kind in known if isinstance(kind, type) and issubclass(kind, Exception)]
    known = [kind for kind in known if not issubclass(kind, ENDINGS)]
    base = known[0] if known else RuntimeError
    if base.__name__ == told["type"]:
        return _plain(base)
    if told["type"] == "LinAlgError":
        return np.linalg.LinAlgError
    return type(told["type"] if told["type"].isidentifier() else "Error", (_plain(base),), {})


def _plain(kind):
    """Give an exception a text alone; classes that want more, or add to it, get one that do not."""
    with contextlib.suppress(TypeError):
        if str(kind("text")) == "text":
            return kind
    return type(kind.__name__, (kind,), {"__init__": _keep_text, "__str__": _text_of})


def _keep_text(self, text):
    Exception.__init__(self, text)
    self.text = text


def _text_of(self):
    return self.text
