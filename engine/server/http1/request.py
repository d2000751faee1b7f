"""Reads the head of a request (RFC 9112 2 to 6), whose grammar is two patterns.

The law: what two servers could read differently is refused. So a head has CRLF line ends only, no
folded lines, one space between the parts of its first line, no control character, no space before
a colon, and at most one way to find the end of the body. A header name with an underscore has a
WSGI name of its own, and is refused where the one with a dash would describe the body.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from engine.exchange.environ_headers import SINGLE_HEADERS, environ_key
from engine.values.http_names import METHOD

_NAME = r"!#$%&'*+\-.^_`|~0-9A-Za-z"
_REQUEST_LINE = re.compile(
    # One empty line before it is allowed (RFC 9112 2.2).
    rf"(?:\r\n)?({METHOD}) ([!-~\x80-\xff]+) HTTP/1\.([01])\r\n"
)
_HEADER_LINES = re.compile(rf"(?:[{_NAME}]++:[\t -~\x80-\xff]*+\r\n)*")
_HEADERS = re.compile(r"([^:]+):[\t ]*((?:[^\r]*[^\r\t ])?)[\t ]*\r\n")
"""Names and values of valid lines."""
_CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|(?<!\r)\n|\r(?!\n|\Z)")
"""What no beginning of a head has: a control character, or a line end that is not CRLF."""
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_END = b"\r\n\r\n"
_is_length = re.compile("[0-9]{1,100}").fullmatch
_ABOUT_MESSAGE = frozenset({"HTTP_CONNECTION", "HTTP_EXPECT", "HTTP_TRANSFER_ENCODING"})
_SINGLE = frozenset(map(environ_key, SINGLE_HEADERS))
_NEVER_TWICE = frozenset({"HTTP_HOST", "CONTENT_LENGTH", "CONTENT_TYPE"})
"""Not even with the same value, as for gunicorn: a proxy may have read another one (RFC 9112)."""
_UNPREFIXED = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
_OF_BODIES = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH", "TRANSFER_ENCODING"})
"""What a proxy may take for the name with a dash."""


class Limits(NamedTuple):
    """The largest head: bytes of the request line, number of headers, bytes of each."""

    request_line: int = 8190
    headers: int = 100
    header_size: int = 16_380

    @property
    def head(self) -> int:
        """Bytes of a whole head."""
        return self.request_line + self.headers * (self.header_size + 2) + 4


class InvalidRequest(Exception):
    """A head that is refused with `status`; the text is for the caller and the log."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class RequestHead:
    """A request without its body.

    `target` is as sent, `path` without query, scheme and host; both are latin-1. `minor_version` is
    that of HTTP/1. `headers` are by their WSGI names; repeated ones are joined by commas.
    `content_length` is None for a chunked body. `expects_continue`: the caller waits for `100
    Continue`. `close`: the caller wants no other request on this connection.
    """

    content_length: int | None = 0
    expects_continue = False

    def __init__(self, method: str, target: str, minor_version: int) -> None:
        self.method = method
        self.target = target
        self.path, _, self.query = target.partition("?")
        if not target.startswith("/"):
            self.path = _path(method, target)
        self.minor_version = minor_version
        self.headers: dict[str, str] = {}
        self.close = minor_version == 0


class HeadReader:
    """Reads the heads of a connection, one after the other, from data that comes in pieces."""

    _data: bytes | bytearray = b""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._short = min(limits.request_line, limits.header_size)

    def feed(self, data: bytes) -> tuple[RequestHead, bytes] | None:
        """The head, and the bytes after it; None while it is incomplete. Raises InvalidRequest."""
        if not self._data:
            end = data.find(_END)
        else:
            searched = max(len(self._data) - len(_END) + 1, 0)
            self._data += data  # a bytearray: what came before is not copied for each piece
            if (end := self._data.find(_END, searched)) >= 0:
                data, self._data = bytes(self._data), b""
        if end < 0:
            self._wait(data)
            return None
        text = data[: end + 4].decode("latin-1")
        if end > self._short:
            _check_sizes(text, self._limits)
        line = _REQUEST_LINE.match(text)
        if line is None:
            raise InvalidRequest(400, "the request line is malformed")
        method, target, minor_version = line.groups()
        start, end = line.end(), end + 2
        if _HEADER_LINES.fullmatch(text, start, end) is None:
            raise InvalidRequest(
                400, "a header is malformed, or its line is folded or without CRLF"
            )
        head = RequestHead(method, target, int(minor_version))
        headers = _HEADERS.findall(text, start, end)
        if len(headers) > self._limits.headers:
            raise InvalidRequest(431, "the head has too many headers")
        _read_headers(head, headers)
        return head, data[end + 2 :]

    def _wait(self, data: bytes) -> None:
        """Keep the beginning of a head. Its first piece is checked, so that TLS or anything else
        that is not HTTP/1 is refused at once."""
        if not self._data:
            if _CONTROL.search(data.decode("latin-1")):
                raise InvalidRequest(400, "a control character, or a line end that is not CRLF")
            self._data = bytearray(data)
        if len(self._data) > self._limits.head:
            raise InvalidRequest(431, "the head is too long")


def _check_sizes(text: str, limits: Limits) -> None:
    """Raise InvalidRequest for a head with a line that is too long, or too many lines."""
    # Besides the headers there are the first line, and an empty one on both sides.
    if text.count("\r\n") > limits.headers + 3:
        raise InvalidRequest(431, "the head has too many headers")
    request_line, *headers = text.removeprefix("\r\n").split("\r\n")
    if len(request_line) > limits.request_line:
        raise InvalidRequest(414, "the request line is too long")
    if max(map(len, headers)) + 2 > limits.header_size:
        raise InvalidRequest(431, "a header is too long")


def _read_headers(head: RequestHead, parsed: list[tuple[str, str]]) -> None:
    if not parsed:
        return
    names, values = zip(*parsed, strict=True)
    headers = dict(zip(map(_key, names), values, strict=True))
    if len(headers) < len(parsed):
        headers = _joined(parsed)
    head.headers = headers
    if not _ABOUT_MESSAGE.isdisjoint(headers):
        _read_options(head, headers)
    if "CONTENT_LENGTH" in headers and head.content_length is not None:
        length = headers["CONTENT_LENGTH"]
        if not _is_length(length):
            raise InvalidRequest(400, "Content-Length is not a number")
        head.content_length = int(length)


def _read_options(head: RequestHead, headers: dict[str, str]) -> None:
    """Read the headers that few requests have about their connection and body."""
    if "HTTP_CONNECTION" in headers:
        options = [word.strip(" \t") for word in headers["HTTP_CONNECTION"].lower().split(",")]
        head.close = "close" in options or (head.close and "keep-alive" not in options)
    if "HTTP_EXPECT" in headers:
        if headers["HTTP_EXPECT"].lower() != "100-continue":
            raise InvalidRequest(417, "an unknown expectation")
        head.expects_continue = head.minor_version == 1  # RFC 9110 10.1.1
    if "HTTP_TRANSFER_ENCODING" in headers:
        if "CONTENT_LENGTH" in headers or head.minor_version == 0:
            raise InvalidRequest(400, "Transfer-Encoding with Content-Length, or in HTTP/1.0")
        if headers["HTTP_TRANSFER_ENCODING"].lower() != "chunked":
            raise InvalidRequest(400, "a transfer coding other than chunked")
        head.content_length = None


def _joined(parsed: list[tuple[str, str]]) -> dict[str, str]:
    """Headers of which some are repeated."""
    headers: dict[str, str] = {}
    for name, value in parsed:
        key = _key(name)
        if key in headers:
            if key in _SINGLE:
                if value != headers[key] or key in _NEVER_TWICE:
                    raise InvalidRequest(400, f"the header '{name}' is repeated")
                continue
            value = f"{headers[key]},{value}"
        headers[key] = value
    return headers


@lru_cache(maxsize=512)
def _key(name: str) -> str:
    """The WSGI name of a header."""
    upper = name.upper()
    if "_" in upper:
        if upper.replace("-", "_") in _OF_BODIES or upper == name.lower():
            raise InvalidRequest(400, "a header name with an underscore")
        return environ_key(name)
    return _UNPREFIXED.get(upper) or "HTTP_" + upper.replace("-", "_")


def _path(method: str, target: str) -> str:
    """The path of a target in absolute, authority or asterisk form (RFC 9112 3.2). Raises
    InvalidRequest for a form that its method may not have."""
    if method == "CONNECT" or (method == "OPTIONS" and target == "*"):
        return target
    if not _ABSOLUTE.match(target):
        raise InvalidRequest(400, "the target has no form that its method may have")
    try:
        return urlsplit(target).path or "/"
    except ValueError as error:
        raise InvalidRequest(400, "the host of the target is malformed") from error
