"""Messages between a process and its worker, each within a time limit."""

from __future__ import annotations

import pickle
import socket
import struct
from contextlib import suppress
from time import monotonic
from typing import Any

_LENGTH = struct.Struct("!Q")


class Channel:
    """One end of a socket pair, for pickled messages.

    Only one thread may send or receive at a time; any thread may shut the channel down. A
    ``deadline`` is a time of :func:`time.monotonic`, or ``None`` to wait without limit.

    :param end: the socket, which the channel takes over.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def send(self, message: object, deadline: float | None = None) -> None:
        """Send a message.

        :raises OSError: when the channel fails; :exc:`TimeoutError` after the deadline.
        """
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        for part in (_LENGTH.pack(len(data)), data):
            self._limit(deadline)
            self._socket.sendall(part)

    def receive(self, deadline: float | None = None) -> Any:
        """Return the next message.

        :raises EOFError: when the other side has closed the channel or has ended.
        :raises OSError: when the channel fails; :exc:`TimeoutError` after the deadline.
        """
        return pickle.loads(self.receive_bytes(deadline))

    def receive_bytes(self, deadline: float | None = None) -> bytearray:
        """Return the next message, still pickled; raises the same errors as :meth:`receive`."""
        [length] = _LENGTH.unpack(self._receive_exactly(_LENGTH.size, deadline))
        return self._receive_exactly(length, deadline)

    def shut_down(self) -> None:
        """End sending and receiving on both sides; wakes threads that wait here."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this side."""
        self._socket.close()

    def _receive_exactly(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            self._limit(deadline)
            if not (received := self._socket.recv_into(rest)):
                raise EOFError("the other side has closed the channel")
            rest = rest[received:]
        return data

    def _limit(self, deadline: float | None) -> None:
        self._socket.settimeout(None if deadline is None else seconds_until(deadline))


def seconds_until(deadline: float) -> float:
    """Return the seconds left until a deadline.

    :raises TimeoutError: when it has passed.
    """
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
