"""An answer on its way out over the wire: gunicorn's, but its head goes with the first bytes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from gunicorn import util
from gunicorn.http.wsgi import Response

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9a-z]+")
_TEXT = bytes(byte for byte in range(256) if byte == 9 or (byte >= 32 and byte != 127))
_MOST_NAMES, _LONGEST_NAME = 1_000, 100
_LENGTH = frozenset({"content-length"})
_UPGRADES = ("websocket", "http/1.1")  # to a session, and of a 426 where there is none
_UNFIT = "a header of an answer cannot be sent"
_CAREFUL = _LENGTH | frozenset(util.hop_headers)


class Outgoing(Response):  # type: ignore[misc]
    """gunicorn's response to a request, which sends less often."""

    status: str | None
    response_length: int | None
    _unsent = b""

    def start_response(
        self, status: str, headers: Sequence[tuple[str, str]], exc_info: Any = None
    ) -> Any:
        """WSGI's. Raises ValueError for what would not stay one header line, and for a name that is
        not in lower case, as Falcon writes them all."""
        if exc_info and self.headers_sent:
            raise exc_info[1]
        assert exc_info or self.status is None, "the answer has begun already"
        self.status, self.status_code = status, int(status[:3])
        self.response_length = None
        fields = dict(headers)
        careful = _CAREFUL.intersection(fields)
        if careful != _LENGTH or not self._passes("content-length", fields["content-length"]):
            headers = [pair for pair in headers if pair[0] not in careful or self._passes(*pair)]
        if not _names.issuperset(fields):
            _look_at(fields)
        self._lines = _lines(headers)
        self._omits_body = self._response_omits_body(self.req.method, self.status_code)
        self.chunked = self.is_chunked()
        return self.write

    def _passes(self, name: str, value: str) -> bool:
        """Take note of a header that is about this connection; whether it is sent as it is."""
        if name == "content-length":
            if self.status_code == 204 or self.status_code < 200:  # RFC 9110 8.6
                return False
            self.response_length = int(value)
            return True
        if name == "connection" and value.lower() == "upgrade":
            self.upgrade = True
        return name == "upgrade" and value.lower() in _UPGRADES

    def write(self, arg: bytes) -> None:
        """Send a piece of the body, and what stands before it."""
        if self.chunked and self.headers_sent:  # an event of a stream, most often
            data, self._unsent = self._unsent, b""
            if arg:
                data += _chunk(arg)
            if data:
                self.sock.sendall(data)
            return
        length = self.response_length
        if length is not None:
            arg = arg[: length - self.sent]  # never more than was announced
        if self._omits_body or (not arg and self.headers_sent):
            return
        self.sent += len(arg)
        if self.chunked and arg:
            arg = _chunk(arg)
        if not self.headers_sent:
            arg = self._head() + arg
        self.sock.sendall(arg)

    @property
    def try_send(self) -> Callable[[bytes], bool] | None:
        """What sends one more piece without waiting, once the head is out: False where some of it
        is left to the next `write`, which has to come then. None where there is no such way."""
        return self._try_send if self.chunked and hasattr(self.sock, "send_some") else None

    def _try_send(self, arg: bytes) -> bool:
        data = _chunk(arg)
        sent: int = self.sock.send_some(data)
        self._unsent = data[sent:]
        return sent == len(data)

    def close(self) -> None:
        """Send what ends the answer."""
        end = b"0\r\n\r\n" if self.chunked else b""
        if not self.headers_sent:
            end = self._head() + end
        if end:
            self.sock.sendall(end)

    def _head(self) -> bytes:
        self.headers_sent = True
        connection = "close" if self.should_close() else "keep-alive"
        if self.upgrade:
            connection = "upgrade"
        coding = "Transfer-Encoding: chunked\r\n" if self.chunked else ""
        head = (
            f"HTTP/1.{self.req.version[1]} {self.status}\r\nDate: {_date(int(time.time()))}\r\n"
            f"Connection: {connection}\r\n{coding}"
        )
        return b"%b%b\r\n" % (head.encode("latin-1"), self._lines)


_names: set[str] = set()
"""Names of headers that can be sent. There are few, and to look at them is what takes time."""


def _look_at(names: Iterable[str]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(_UNFIT)
        if len(_names) < _MOST_NAMES and len(name) <= _LONGEST_NAME:
            _names.add(name)


def _lines(headers: Sequence[tuple[str, str]]) -> bytes:
    try:
        lines = "\r\n".join([*map(": ".join, headers), ""]).encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(_UNFIT) from None
    # What is left without all text are the ends of as many lines as there are to be, or else a
    # value would begin a line of its own.
    if lines.translate(None, _TEXT) != b"\r\n" * len(headers):
        raise ValueError(_UNFIT)
    return lines


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return str(util.http_date(second))
