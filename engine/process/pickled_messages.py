"""Messages between processes of one gateway, over a stream socket: pickled, with their length."""

from __future__ import annotations

import pickle
import struct
from typing import Any, Protocol

_PIECE = 65_536
_LENGTH = struct.Struct("!I")


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
