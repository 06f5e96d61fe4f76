"""The near end of the talk with a student's notebook."""

import importlib
import time
import warnings

from grader.engine.carrying import texts_of
from grader.engine.far.decoding import copy_into
from grader.engine.far.errors import describe_error
from grader.engine.far.notebook import MOST_WARNINGS
from grader.engine.far.talk import Peer
from grader.engine.far.wire import Garbled, Gone, Late
from grader.engine.jail import Lost
from grader.engine.limits import GRACE
from grader.engine.reading import clean
from grader.engine.standing_in import KEPT, Function, Opaque
from grader.engine.telling import Written, cell_told, error_from, listed, short
from grader.records import CRASHED, TIMED_OUT


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
        self.peer.owned.texts_of = lambda thing: texts_of(thing, self.free)
        self.untold = False  # whether a test looked for something that does not cross
        self.wrote = False  # whether a call changed its arguments
        self.write_back = True
        self.lent = {}  # library functions that may be called, and what they would give away
        self.judged = frozenset()  # names that are judged now
        self.free = frozenset()  # what is lent and may go over: it gives away nothing any more
        self.written = Written()
        self.deadline = time.monotonic()

    def begin_test(self, judged, write_back, free=frozenset()):
        """Get ready for a graded cell: what an earlier one handed over can be called no more.

        A test may hand over the very function that another one asks for.
        """
        self.untold = self.wrote = False
        self.judged, self.write_back, self.free = judged, write_back, free
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
        self.written.add(source)
        return cell_told(self._ask("run", {"source": source, "limit": self.left}))

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
        for text in listed(reply.get("warned"), MOST_WARNINGS):
            warnings.warn(short(text), RuntimeWarning, stacklevel=3)
        self._write_back(reply.get("changed"), args, kwargs)
        if reply.get("error") is not None:
            raise error_from(reply["error"], self.written)
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
            copy_into(old, new)
        news = changed.get("kwargs")
        for name, new in (news if isinstance(news, dict) else {}).items():
            copy_into(kwargs.get(name), new)

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
                return self._lend(request)
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
        if dotted in self.free:
            return {"texts": texts_of(function, self.free)}
        return {"value": function(*request["args"], **request["kwargs"])}

    def _stand_in(self, number, facts, value):
        """Make what stands for an object over there."""
        kind = KEPT.get(type(value))
        if kind is not None:
            kept = kind(value)
            kept.number_there = number
            return kept
        if facts["callable"]:
            return Function(self, number, clean(facts["name"]))
        name = self.written.name(facts["kind"], "object")
        return type(name, (Opaque,), {})(self, number)
