"""Reads the head of a request (RFC 9112 2 to 6) with gunicorn's C parser.

The law: what two servers could read differently is refused. So on top of the C parser's checks a
head has CRLF line ends only, no folded lines, one space between the parts of its first line, no
header name with an underscore, and at most one way to find the end of the body.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import gunicorn_h1c

_LONGEST_LENGTH = 100
"""Digits of a Content-Length."""
_SINGLE = frozenset({"HTTP_HOST", "CONTENT_TYPE", "CONTENT_LENGTH"})
_UNPREFIXED = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
_CORRELATION_IDS = {
    "SESSION_ID": "HTTP_SESSION_ID",
    "CONVERSATION_ID": "HTTP_CONVERSATION_ID",
    "THREAD_ID": "HTTP_THREAD_ID",
}
"""Names with an underscore that coding agents send; they are read as if they had a dash. Every
other such name is refused: WSGI could not tell it from the one with a dash."""


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
    """A head that is refused with `status`; the text is for the log."""

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

    def __init__(self, method: bytes, target: bytes, minor_version: int) -> None:
        self.method = method.decode("latin-1")
        self.target = text = target.decode("latin-1")
        self.path, _, self.query = text.partition("?")
        if not target.startswith(b"/"):
            self.path = _path(text)
        self.minor_version = minor_version
        self.headers: dict[str, str] = {}
        self.close = minor_version == 0


class HeadReader:
    """Reads one head from data that comes in pieces."""

    _data = b""
    _size = 0  # of the data that the C parser has seen

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def feed(self, data: bytes) -> tuple[RequestHead, bytes] | None:
        """The head, and the bytes after it; None while it is incomplete. Raises InvalidRequest."""
        self._data = data = self._data + data if self._data else data
        limits = self._limits
        try:
            parsed = gunicorn_h1c.parse_request(
                data,
                last_len=self._size,
                limit_request_line=limits.request_line,
                limit_request_fields=limits.headers,
                limit_request_field_size=limits.header_size,
            )
        except gunicorn_h1c.IncompleteError:
            self._size = len(data)
            if self._size > limits.head:
                raise InvalidRequest(431, "the head is too long") from None
            return None
        except gunicorn_h1c.LimitRequestLine as error:
            raise InvalidRequest(414, str(error)) from None
        except gunicorn_h1c.LimitRequestHeaders as error:
            raise InvalidRequest(431, str(error)) from None
        except gunicorn_h1c.ParseError as error:
            raise InvalidRequest(400, str(error)) from None
        size = parsed["consumed"]
        method, target, minor_version = parsed["method"], parsed["path"], parsed["minor_version"]
        _check_lines(data[:size], b"%b %b HTTP/1.%d\r\n" % (method, target, minor_version))
        head = RequestHead(method, target, minor_version)
        _read_headers(head, parsed["headers"])
        return head, data[size:]


def _check_lines(head: bytes, request_line: bytes) -> None:
    """Raises InvalidRequest. One empty line before the request line is allowed (RFC 9112 2.2)."""
    line_ends = head.count(b"\r\n")
    if head.count(b"\n") != line_ends or head.count(b"\r") != line_ends:
        raise InvalidRequest(400, "a line end that is not CRLF")
    if head.find(b"\n ") >= 0 or head.find(b"\n\t") >= 0:
        raise InvalidRequest(400, "a folded header")
    if not head.startswith(request_line) and not head.startswith(b"\r\n" + request_line):
        raise InvalidRequest(400, "the parts of the request line are not one space apart")


def _read_headers(head: RequestHead, parsed: list[tuple[bytes, bytes]]) -> None:
    if not parsed:
        return
    names, values = zip(*parsed, strict=True)
    texts = b"\n".join(values).decode("latin-1").split("\n")  # no value has a line end
    headers = dict(zip(map(_key, names), texts, strict=True))
    if len(headers) < len(parsed):
        headers = _joined(parsed)
    head.headers = headers
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
    elif "CONTENT_LENGTH" in headers:
        length = headers["CONTENT_LENGTH"]
        if not (length.isascii() and length.isdigit() and len(length) <= _LONGEST_LENGTH):
            raise InvalidRequest(400, "Content-Length is not a number")
        head.content_length = int(length)


def _joined(parsed: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers of which some are repeated."""
    headers: dict[str, str] = {}
    for name, value in parsed:
        key, text = _key(name), value.decode("latin-1")
        if key in headers:
            if key in _SINGLE:
                raise InvalidRequest(400, f"{key} is repeated")
            text = f"{headers[key]},{text}"
        headers[key] = text
    return headers


@lru_cache(maxsize=512)
def _key(name: bytes) -> str:
    """The WSGI name of a header."""
    upper = name.decode("latin-1").upper()
    if "_" in upper:
        if upper not in _CORRELATION_IDS:
            raise InvalidRequest(400, "a header name with an underscore")
        return _CORRELATION_IDS[upper]
    return _UNPREFIXED.get(upper) or "HTTP_" + upper.replace("-", "_")


def _path(target: str) -> str:
    """The path of a target in absolute, authority or asterisk form (RFC 9112 3.2)."""
    if "://" not in target:
        return target
    try:
        return urlsplit(target).path or "/"
    except ValueError as error:
        raise InvalidRequest(400, "the host of the target is malformed") from error
