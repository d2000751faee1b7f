"""What processes of one gateway pass to each other: sockets, from workers to another process over a
pair of sockets that both inherit, and messages over a stream socket, pickled, with their length.
"""

from __future__ import annotations

import errno
import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any, Protocol

import gevent.socket
from gevent.socket import wait_read

_MAX_PASSED = 2
_FULL = (errno.EAGAIN, errno.ENOBUFS, errno.ETOOMANYREFS)


Stream = gevent.socket.socket
"""One end of a pair whose other end was passed to another process."""
_PIECE = 65_536
_LENGTH = struct.Struct("!I")


class Channel:
    """The two ends of a channel. Made in the master; a worker keeps the one, the process that
    serves workers the other, so that each end closes with the last process that has it."""

    def __init__(self) -> None:
        self._sending, self._receiving = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending.setblocking(False)
        self._receiving.setblocking(False)

    def keep_sending(self) -> None:
        """Called in a worker."""
        self._receiving.close()

    def keep_receiving(self) -> None:
        """Called in a process that serves workers."""
        self._sending.close()

    def close(self) -> None:
        """Close the ends that this process has."""
        self._sending.close()
        self._receiving.close()

    def send(self, descriptors: Sequence[int]) -> bool:
        """Pass descriptors on, without waiting. False if the receivers do not keep up. Raises
        OSError if none is left."""
        try:
            socket.send_fds(self._sending, [b"."], descriptors)
        except OSError as error:
            if error.errno in _FULL:
                return False
            raise
        return True

    def connect(self) -> Stream | None:
        """A stream to a receiver, which `receive` gives the other end. None if the receivers do not
        keep up. Raises OSError."""
        near, far = gevent.socket.socketpair()
        is_passed = False
        try:
            with far:
                is_passed = self.send([far.fileno()])
        finally:
            if not is_passed:
                near.close()
        return near if is_passed else None

    def receive(self) -> list[int] | None:
        """Wait for descriptors, which several processes may do; None when no worker is left."""
        while True:
            wait_read(self._receiving.fileno())
            try:
                data, descriptors, _, _ = socket.recv_fds(self._receiving, 1, _MAX_PASSED)
            except BlockingIOError:  # another one was faster
                continue
            return descriptors if data else None


class StreamSocket(Protocol):
    """What is used of a socket."""

    def sendall(self, data: bytes, /) -> object: ...
    def recv(self, size: int, /) -> bytes: ...


def send_message(sock: StreamSocket, value: object) -> None:
    """Raises OSError if the other process has died."""
    send_bytes(sock, pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def send_bytes(sock: StreamSocket, data: bytes) -> None:
    """Send bytes with their length; a copy of large ones would take as long as sending them. Raises
    OSError."""
    if len(data) <= _PIECE:
        sock.sendall(_LENGTH.pack(len(data)) + data)
        return
    sock.sendall(_LENGTH.pack(len(data)))
    sock.sendall(data)


def receive_message(sock: StreamSocket) -> Any:
    """Wait for a message. Raises EOFError or OSError if the other process has died."""
    return pickle.loads(receive_bytes(sock))  # noqa: S301 - of our own process


def receive_bytes(sock: StreamSocket) -> bytes:
    """Wait for bytes that `send_bytes` sends. Raises EOFError or OSError."""
    (length,) = _LENGTH.unpack(_receive(sock, _LENGTH.size))
    return _receive(sock, length)


def _receive(sock: StreamSocket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = sock.recv(min(_PIECE, size - len(data)))
        if not piece:
            raise EOFError("the other process has ended")
        data += piece
    return bytes(data)
