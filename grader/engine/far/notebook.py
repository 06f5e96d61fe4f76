"""One notebook on the far side: answers requests to run cells, fetch names and call functions."""

import contextlib
import copy
import os
import warnings

import numpy as np

from grader.engine.far import lending
from grader.engine.far.carried import Carried
from grader.engine.far.clock import time_limit
from grader.engine.far.encoding import Encoder
from grader.engine.far.errors import describe_error
from grader.engine.far.talk import Peer
from grader.engine.far.wire import Garbled, Gone

MOST_WARNINGS = 20


class Theirs:
    """Stands for an object of the marking side; a call is answered over there."""

    is_far = True

    def __init__(self, peer, number, facts):
        self.peer = peer
        self.number_there = number
        self.__name__ = facts["name"]

    def __call__(self, *args, **kwargs):
        """Call the function that this stands for."""
        request = {"args": list(args), "kwargs": kwargs, "function": self}
        return _asked(self.peer, "call", request)["value"]

    def __deepcopy__(self, memo):
        """Copy nothing: the object is not here."""
        return self


def _asked(peer, kind, request):
    reply = peer.ask(kind, request)
    if "error" in reply:
        raise _error_like(reply["error"])
    return reply


def _error_like(told):
    """Make an exception of the builtin kind that is told."""
    import builtins

    kind = getattr(builtins, str(told.get("type")), None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = RuntimeError
    return kind(told.get("text", ""))


class Notebook:
    """Serves one notebook until the other side goes away.

    Parameters
    ----------
    sock : socket
        Connected to the marking side.
    shell : Shell
        Runs cells.
    """

    def __init__(self, sock, shell):
        self.shell = shell
        lending.NOTEBOOK[:] = [self]
        self.peer = Peer(sock, self._stand_in, self.serve)

    def serve_all(self):
        """Answer requests until there are no more."""
        with contextlib.suppress(Gone, Garbled):
            while True:
                self.peer.serve_next()
        os._exit(0)

    def serve(self, kind, request):
        """Answer one request."""
        return getattr(self, f"_{kind}")(request)

    def ask(self, kind, request):
        """Ask the marking side; raise the error that it tells."""
        return _asked(self.peer, kind, request)

    def _stand_in(self, number, facts, value):
        if facts["texts"]:
            return Carried(number, facts["name"], facts["texts"])
        return Theirs(self.peer, number, facts)

    def _run(self, request):
        return self.shell.run(request["source"], request["limit"])

    def _fetch(self, name):
        names = self.shell.names
        return {"there": name in names, "value": names.get(name)}

    def _copy(self, thing):
        return copy.deepcopy(thing)

    def _call(self, request):
        """Call a function; tell its value or its error, its warnings, and what it changed."""
        received = self.peer.received
        args, kwargs = request["args"], request["kwargs"]
        with self.shell.watching(), _listening() as heard, time_limit(request["limit"]) as clock:
            try:
                reply = {"value": request["function"](*args, **kwargs)}
            except BaseException as error:
                reply = {"error": describe_error(error)}
        if clock.error:
            reply = {"error": describe_error(clock.error)}
        reply["warned"] = [str(warning.message)[:500] for warning in heard[:MOST_WARNINGS]]
        if self._changed(received, args, kwargs):
            reply["changed"] = {"args": args, "kwargs": kwargs}
        return reply

    def _changed(self, received, args, kwargs):
        """Tell whether arguments are no longer what was sent."""
        tree, data = received
        encoder = Encoder(self.peer.owned)
        try:
            now = [["args", encoder.encode(args)], ["kwargs", encoder.encode(kwargs)]]
        except ValueError:
            return True
        return now != tree["v"][:2] or b"".join(encoder.parts) != data[: encoder.size]


@contextlib.contextmanager
def _listening():
    """Collect warnings, as NumPy and Python would print them."""
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="warn"):
        warnings.simplefilter("default")
        yield heard
