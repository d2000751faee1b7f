"""A request of HTTP/1.1 (RFC 9112): its head, and the pieces in which it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import starmap

from engine.upstream.client.connection import PIECE
from engine.values.upstream_request import Spool

_UPGRADE = "Connection: Upgrade\r\n"
UPGRADE_END = f"{_UPGRADE}\r\n".encode()
"""The last bytes of a request head that requests an upgrade."""

_WORD = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_START = re.compile(rf"{_WORD} [!-~\x80-\xff]+")
# Only the client writes the framing of a request: two of them would allow request smuggling.
_NOT_FRAMING = r"(?!(?i:host|content-length|transfer-encoding|connection|expect):)"
_LINE = re.compile(rf"{_NOT_FRAMING}{_WORD}: [\t\x20-\x7e\x80-\xff]*\r\n")


def request_head(
    method: str,
    target: str,
    host: str,
    headers: Sequence[tuple[str, str]],
    length: int | None,
) -> bytes:
    """The request line and all headers, whose names are in lower case; `length` None means no
    Content-Length.

    Host, Content-Length and, with Upgrade, Connection are added here. Raises ValueError for a
    header that is added here, is not one line (CR, LF, NUL) or is not valid HTTP; the message has
    its name and never its value.
    """
    lines = "".join(starmap(_line, headers))
    start = f"{method} {target}"
    if not _START.fullmatch(start):
        raise ValueError("the method or the target of the request cannot be sent")
    size = "" if length is None else f"Content-Length: {length}\r\n"
    upgrade = _UPGRADE if "\nupgrade: " in f"\n{lines}" else ""
    head = f"{start} HTTP/1.1\r\nHost: {host}\r\n{lines}{size}{upgrade}\r\n"
    return head.encode("latin-1")


@lru_cache(maxsize=256)
def _line(name: str, value: str) -> str:
    """One header line; cached, because most are the same for every request."""
    line = f"{name}: {value}\r\n"
    if not _LINE.fullmatch(line):
        raise ValueError(f"the header {name!r} cannot be sent")
    return line


def pieces(head: bytes, body: bytes | Spool | None) -> Iterable[bytes | memoryview]:
    """The bytes of a request in pieces; a small body is sent together with the head.

    Raises ValueError if the chunks of a Spool differ from its size: the upstream would read the
    difference as another request.
    """
    if body is None:
        return (head,)
    if isinstance(body, bytes) and len(body) <= PIECE:
        return (head + body,)
    return _many(head, body)


def _many(head: bytes, body: bytes | Spool) -> Iterator[bytes | memoryview]:
    if isinstance(body, bytes):
        yield head + body[:PIECE]
        view = memoryview(body)
        for start in range(PIECE, len(body), PIECE):
            yield view[start : start + PIECE]
    else:
        remaining = body.size
        for chunk in body.chunks():
            remaining -= len(chunk)
            if remaining < 0:
                break
            yield head + chunk
            head = b""
        if remaining:
            raise ValueError("the body of a request is not as long as its size")
        if head:
            yield head
