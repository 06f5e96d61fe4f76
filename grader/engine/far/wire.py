"""Frames on a socket: a JSON tree and the raw bytes of its arrays, with bounds on everything.

Nothing that arrives is ever executed or unpickled. A frame that breaks a bound ends the talk.
"""

import json
import socket
import struct
import time

HEAD = struct.Struct("<4sIQ")
MAGIC = b"blk1"
MOST_TREE = 32 << 20  # bytes of JSON in one frame
MOST_BYTES = 256 << 20  # bytes of arrays in one frame
LEAST_READ, MOST_READ = 1 << 16, 1 << 20  # bytes that are asked of the socket at a time
SMALL = 1 << 16  # bytes of arrays that are sent together with their tree
GLANCE = 0.25  # seconds between two looks at what the other side is doing


class Garbled(Exception):
    """What arrived is not what the other side would send."""


class Gone(Exception):
    """The other side has ended."""


class TooMuch(ValueError):
    """A value is too deep or too large to cross."""


class Late(Exception):
    """Nothing came in time."""


class Line:
    """One end of a connection.

    Parameters
    ----------
    sock : socket
        A connected stream socket.
    """

    def __init__(self, sock):
        self.sock = sock
        self.deadline = None  # on the clock of `time.monotonic`
        self.watch = None  # called now and then, whether something comes or not
        self.looked = 0.0
        self.came = bytearray()  # bytes that are read and not yet asked for

    def send(self, tree, parts=()):
        """Send a tree and the bytes that it refers to."""
        text = json.dumps(tree, separators=(",", ":")).encode("ascii")
        size = sum(map(len, parts))
        if len(text) > MOST_TREE or size > MOST_BYTES:
            raise TooMuch("more data than one message may hold")
        try:
            self._wait()
            for block in _blocks([HEAD.pack(MAGIC, len(text), size), text, *parts], size):
                self.sock.sendall(block)
        except TimeoutError as trouble:
            raise Late from trouble
        except OSError as trouble:
            raise Gone from trouble

    def receive(self):
        """Return the next tree and its bytes, in a buffer that can be written to."""
        magic, text_size, size = HEAD.unpack(self._read(HEAD.size))
        if magic != MAGIC or text_size > MOST_TREE or size > MOST_BYTES:
            raise Garbled("no frame of this protocol")
        text = self._read(text_size)
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError) as trouble:
            raise Garbled("no JSON") from trouble
        return tree, self._read(size)

    def _read(self, size):
        """Return exactly this many bytes; what came with them waits for the next call."""
        while len(self.came) < size:
            chunk = bytearray(min(max(size - len(self.came), LEAST_READ), MOST_READ))
            count = self._read_into(chunk)
            self.came += memoryview(chunk)[:count]
        data, self.came = self.came[:size], self.came[size:]
        return data

    def _read_into(self, chunk):
        while True:
            try:
                self._wait(GLANCE if self.watch else None)
                count = self.sock.recv_into(chunk)
                self._look()
                break
            except TimeoutError as trouble:
                if self.watch is None:
                    raise Late from trouble
                self.watch()
            except OSError as trouble:
                raise Gone from trouble
        if not count:
            raise Gone
        return count

    def _look(self):
        """Look at the other side though it sends: drops of data must not hide what it does."""
        if self.watch and time.monotonic() - self.looked > GLANCE:
            self.looked = time.monotonic()
            self.watch()

    def _wait(self, most=None):
        """Give the next call on the socket what is left of the time, or a part of it."""
        if self.deadline is None:
            self.sock.settimeout(None)
            return
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Late
        self.sock.settimeout(left if most is None else min(left, most))


def _blocks(parts, size):
    """Join parts that are small: every call of the system costs more than a copy."""
    return [b"".join(parts)] if size < SMALL else parts


def pair():
    """Return two connected sockets."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
