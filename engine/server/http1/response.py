"""Writes a response (RFC 9112 4 to 7), as WSGI describes it (PEP 3333), without I/O.

The head is sent with the first bytes of the body. A response without a length is chunked for
HTTP/1.1; for HTTP/1.0 the connection closes after it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache

Headers = Sequence[tuple[str, str]]

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9a-z]+")
_TEXT = bytes(byte for byte in range(256) if byte == 9 or (byte >= 32 and byte != 127))
_UPGRADES = ("websocket", "http/1.1")  # of a 101, and of a 426
_INVALID = "a header of the response cannot be sent"
_CONNECTION_HEADERS = frozenset(
    (
        "connection",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailers",
        "transfer-encoding",
        "upgrade",
        "server",
        "date",
    )
)
"""Headers that this module writes itself, or that are about one connection (RFC 9110 7.6.1)."""
_LENGTH = frozenset({"content-length"})
LAST_CHUNK = b"0\r\n\r\n"

CHUNK = b"%x\r\n%b\r\n"
"""A chunk (RFC 9112 7.1) of at least one byte: `CHUNK % (len(data), data)`."""


class ResponseWriter:
    """The bytes of the response to one request. `close`: the connection ends with it."""

    chunked = False
    head_sent = False
    _status = ""
    _lines = b""
    _remaining: int | None = None  # bytes of the announced length that were not sent
    _upgrade = False

    def __init__(self, method: str, minor_version: int, close: bool) -> None:
        self._head_only = method == "HEAD"
        self._minor_version = minor_version
        self.close = close

    def start(self, status: str, headers: Headers) -> None:
        """Set status and headers. Raises ValueError for a value with a line end, and for a name
        that is not in lower case; Falcon writes all names in lower case."""
        code = int(status[:3])
        self._status = status
        self._remaining = None
        fields = dict(headers)
        framing_headers = _framing_headers(tuple(fields))
        if framing_headers == _LENGTH and code >= 200 and code != 204:
            self._remaining = int(fields["content-length"])
        elif framing_headers:
            headers = [
                pair
                for pair in headers
                if pair[0] not in framing_headers or self._passes(code, *pair)
            ]
        self._lines = _lines(headers)
        self._head_only |= code in (204, 304) or code < 200
        self.chunked = False
        if self._remaining is None and not self._head_only:
            self.chunked = self._minor_version == 1
            self.close |= not self.chunked

    def _passes(self, code: int, name: str, value: str) -> bool:
        """Apply a header about this connection. Returns whether it is sent unchanged."""
        if name == "content-length":
            if code == 204 or code < 200:  # RFC 9110 8.6
                return False
            self._remaining = int(value)
            return True
        if name == "connection" and value.lower() == "upgrade":
            self._upgrade = True
        return name == "upgrade" and value.lower() in _UPGRADES

    def write(self, data: bytes) -> bytes:
        """The bytes to send for a piece of the body, and for the head if it was not sent."""
        if self.chunked:
            data = CHUNK % (len(data), data) if data else b""
        elif self._head_only:
            data = b""
        elif self._remaining is not None:
            data = data[: self._remaining]  # never more than was announced
            self._remaining -= len(data)
        return data if self.head_sent else self._head() + data

    def end(self) -> bytes:
        """The bytes that end the response."""
        end = LAST_CHUNK if self.chunked else b""
        if self._remaining and not self._head_only:
            self.close = True  # or the caller would read the next response as the rest of this one
        return end if self.head_sent else self._head() + end

    def _head(self) -> bytes:
        self.head_sent = True
        connection = "close" if self.close else "keep-alive"
        if self._upgrade:
            connection = "upgrade"
        start = _start(
            self._minor_version, self._status, int(time.time()), connection, self.chunked
        )
        return b"%b%b\r\n" % (start, self._lines)


@lru_cache(maxsize=256)
def _framing_headers(names: tuple[str, ...]) -> frozenset[str]:
    """Those of the names that are in _CONNECTION_HEADERS. Raises ValueError for a name that is not
    a token in lower case."""
    if not all(map(_NAME.fullmatch, names)):
        raise ValueError(_INVALID)
    return _CONNECTION_HEADERS.intersection(names)


def _lines(headers: Headers) -> bytes:
    try:
        lines = "\r\n".join([*map(": ".join, headers), ""]).encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(_INVALID) from None
    # With all text removed, one CRLF per header remains; more means a line end within a value.
    if lines.translate(None, _TEXT) != b"\r\n" * len(headers):
        raise ValueError(_INVALID)
    return lines


@lru_cache(maxsize=8)
def _start(minor_version: int, status: str, second: int, connection: str, chunked: bool) -> bytes:
    """The status line and the headers that this module writes: those of most responses that are
    sent within a second are the same."""
    date = formatdate(second, usegmt=True)
    coding = "Transfer-Encoding: chunked\r\n" if chunked else ""
    lines = (
        f"HTTP/1.{minor_version} {status}\r\nDate: {date}\r\nConnection: {connection}\r\n{coding}"
    )
    return lines.encode("latin-1")
