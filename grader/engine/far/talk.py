"""Requests and replies between the two sides; either may ask while the other waits for it."""

from grader.engine.far.decoding import Decoder
from grader.engine.far.encoding import Encoder
from grader.engine.far.values import Owned
from grader.engine.far.wire import Garbled, Line, TooMuch

DEEPEST_CALL = 30  # calls within calls, from one side to the other and back


class Peer:
    """One side of the talk.

    Parameters
    ----------
    sock : socket
        Connected to the other side.
    stand_in : callable
        As in `Decoder`.
    serve : callable
        Answers a request: ``serve(kind, value)`` returns the value of the reply.
    """

    def __init__(self, sock, stand_in, serve):
        self.line = Line(sock)
        self.owned = Owned()
        self.stand_in = stand_in
        self.serve = serve
        self.depth = 0
        self.received = None  # the last request as it came: its tree and a copy of its bytes

    def ask(self, kind, value):
        """Send a request and return the value of its reply; requests that come first are served."""
        if self.depth >= DEEPEST_CALL:
            raise Garbled("calls within calls without end")
        self.depth += 1
        try:
            self._send(kind, value)
            while True:
                came, answer = self._receive()
                if came == "reply":
                    return answer
                self._send("reply", self.serve(came, answer))
        finally:
            self.depth -= 1

    def serve_next(self):
        """Wait for one request and answer it."""
        kind, value = self._receive()
        self._send("reply", self.serve(kind, value))

    def encode(self, value):
        """Return the tree and the parts of a value, without sending it."""
        encoder = Encoder(self.owned)
        return encoder.encode(value), encoder.parts

    def _send(self, kind, value):
        try:
            tree, parts = self.encode(value)
            self.line.send({"k": kind, "v": tree}, parts)
        except TooMuch as trouble:
            if kind != "reply":
                raise
            tree, parts = self.encode({"error": {"type": "ValueError", "text": str(trouble)}})
            self.line.send({"k": kind, "v": tree}, parts)

    def _receive(self):
        frame, data = self.line.receive()
        if not isinstance(frame, dict) or not isinstance(frame.get("k"), str) or "v" not in frame:
            raise Garbled("no request and no reply")
        self.received = frame["v"], bytes(data)
        return frame["k"], Decoder(self.owned, self.stand_in, data)(frame["v"])
