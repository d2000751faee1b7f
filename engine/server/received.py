"""What has come over a caller's connection: read once, without gunicorn's copies of it."""

from __future__ import annotations

import io
from typing import Any

from gunicorn.http.body import Body
from gunicorn.http.unreader import Unreader

_PIECE = 64 * 1024


class Received(Unreader):  # type: ignore[misc]
    """What has come over a socket and was not read yet."""

    def __init__(self, sock: Any) -> None:
        self.sock = sock
        self._data = b""

    def read(self) -> bytes:
        """All that is there, or what comes next."""
        data, self._data = self._data, b""
        return data or bytes(self.sock.recv(_PIECE))

    @property
    def buffered(self) -> int:
        """How many bytes can be read without waiting."""
        return len(self._data)

    def unread(self, data: bytes) -> None:
        self._data = data + self._data if self._data else data

    def take_buffered(self) -> bytes:
        data, self._data = self._data, b""
        return data


class AwaitedReader:
    """The reader of a body whose caller waits for 100 Continue: sent when it is first read.

    So a request that is refused by its head alone, as one without a valid token, never gets it
    (RFC 9110 10.1.1). `unreader` is that of the body: it holds what came behind a request.
    """

    def __init__(self, body: Body, sock: Any) -> None:
        self._body = body
        self._sock = sock
        self.unreader = getattr(body.reader, "unreader", None)
        self.sent = False

    def read(self, size: int) -> bytes:
        if not self.sent:
            self.sent = True
            self._sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        data: bytes = self._body.read(size)
        return data


class KnownBody(Body):  # type: ignore[misc]
    """A body whose length is known; `left` bytes of it were not read yet."""

    def __init__(self, unreader: Any, length: int) -> None:
        self.left = length
        self.unreader = unreader
        self.buf = io.BytesIO()

    @property
    def reader(self) -> KnownBody:
        """What gunicorn reads lines from."""
        return self

    @property
    def arrived(self) -> bool:
        """Whether all of it can be read without waiting."""
        return self.left <= getattr(self.unreader, "buffered", -1)

    def read(self, size: int | None = None) -> bytes:
        if self.buf.tell():
            return self._after_a_line(size)
        size = self.left if size is None or size < 0 else min(size, self.left)
        if not size:
            return b""
        data: bytes = self.unreader.read()
        if len(data) < size:
            pieces, got = [data], len(data)
            while data and got < size:
                data = self.unreader.read()
                pieces.append(data)
                got += len(data)
            data = b"".join(pieces)
        if len(data) > size:
            self.unreader.unread(data[size:])
            data = data[:size]
        self.left -= size
        return data

    def _after_a_line(self, size: int | None) -> bytes:
        """As `read`, where readline() has read ahead."""
        ahead, self.buf = self.buf.getvalue(), io.BytesIO()
        if size is None or size < 0:
            return ahead + self.read()
        self.buf.write(ahead[size:])
        return ahead[:size] + (self.read(size - len(ahead)) if size > len(ahead) else b"")
