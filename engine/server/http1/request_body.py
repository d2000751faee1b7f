"""Reads the body of a request: of a known length, or in chunks (RFC 9112 6 and 7.1)."""

from __future__ import annotations

import re
from enum import Enum
from typing import Protocol

from engine.exchange.caller_connection import InvalidFraming

_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?")
_TRAILER = re.compile(rb"([!#$%&'*+\-.^`|~0-9A-Za-z]+):[\t\x20-\x7e\x80-\xff]*")
_FORBIDDEN_TRAILERS = frozenset(
    (b"host", b"content-length", b"transfer-encoding", b"trailer", b"authorization", b"te")
)
"""They would change framing, routing or authentication (RFC 9110 6.5.1)."""
_MAX_CHUNK_LINE = 4096
_MAX_TRAILER_BYTES = 16_384
_MAX_TRAILERS = 100
_MAX_TINY_CHUNKS = 10_000
_TINY = 64


class BodyReader(Protocol):
    """Decodes a request body from the bytes that follow its head."""

    @property
    def complete(self) -> bool: ...

    @property
    def chunks(self) -> int:
        """How many chunks have begun."""
        ...

    @property
    def excess(self) -> bytes:
        """The bytes after the body, once it is complete."""
        ...

    def feed(self, data: bytes, /) -> bytes:
        """The decoded bytes of the body in `data`. Raises InvalidFraming."""
        ...


class LengthBody:
    """A body of a known length, of which `remaining` bytes are still to be received."""

    __slots__ = ("excess", "remaining")

    chunks = 0

    def __init__(self, length: int) -> None:
        self.remaining = length
        self.excess = b""

    @property
    def complete(self) -> bool:
        return not self.remaining

    def feed(self, data: bytes) -> bytes:
        """The bytes of the body in `data`."""
        if len(data) > self.remaining:
            data, self.excess = data[: self.remaining], data[self.remaining :]
        self.remaining -= len(data)
        return data


class _Part(Enum):
    """The part of a chunked body that comes next."""

    CHUNK_LINE = 1
    DATA = 2
    DATA_END = 3
    TRAILERS = 4


class ChunkedBody:
    """A chunked body. Chunk lines and trailers are bounded and end in CRLF; trailers are checked
    and dropped. A body that consists mostly of chunk lines is refused."""

    __slots__ = (
        "_buffer",
        "_next",
        "_remaining",
        "_size",
        "_trailers",
        "chunks",
        "complete",
        "excess",
    )

    def __init__(self) -> None:
        self._buffer = b""
        self._next = _Part.CHUNK_LINE
        self._remaining = 0  # bytes of the chunk's data still to be received
        self._size = 0  # of all chunks
        self._trailers: list[int] = []  # their lengths
        self.chunks = 0
        self.complete = False
        self.excess = b""

    def feed(self, data: bytes) -> bytes:
        """The decoded bytes of the body in `data`. Raises InvalidFraming."""
        data = self._buffer + data if self._buffer else data
        pieces: list[bytes] = []
        at = 0
        while not self.complete:
            if self._next is _Part.DATA:
                piece = data[at : at + self._remaining]
                pieces.append(piece)
                at += len(piece)
                self._remaining -= len(piece)
                if self._remaining:
                    break
                self._next = _Part.DATA_END
            end = data.find(b"\r\n", at)
            if end < 0:
                self._check_partial_line(data[at:])
                break
            self._read_line(data[at:end])
            at = end + 2
        tail = data[at:]
        if self.complete:
            self.excess, tail = tail, b""
        self._buffer = tail
        return b"".join(pieces)

    def _check_partial_line(self, line: bytes) -> None:
        """Raise InvalidFraming for a beginning that no valid line has."""
        if self._next is _Part.DATA_END and line not in (b"", b"\r"):
            raise InvalidFraming("a chunk does not end where its size says")
        if self._next is _Part.CHUNK_LINE and len(line) > _MAX_CHUNK_LINE:
            raise InvalidFraming("a chunk's line is too long")
        if len(line) > _MAX_TRAILER_BYTES:
            raise InvalidFraming("the trailers are too long")

    def _read_line(self, line: bytes) -> None:
        if self._next is _Part.CHUNK_LINE:
            self._read_chunk_line(line)
        elif self._next is _Part.TRAILERS:
            self._read_trailer(line)
        elif line:
            raise InvalidFraming("a chunk does not end where its size says")
        else:
            self._next = _Part.CHUNK_LINE

    def _read_chunk_line(self, line: bytes) -> None:
        match = _CHUNK_LINE.fullmatch(line)
        if match is None or len(line) > _MAX_CHUNK_LINE:
            raise InvalidFraming("a chunk's line is malformed")
        self.chunks += 1
        self._remaining = int(match[1], 16)
        self._size += self._remaining
        if self.chunks > _MAX_TINY_CHUNKS and self._size < self.chunks * _TINY:
            raise InvalidFraming("the chunks are too small")
        self._next = _Part.DATA if self._remaining else _Part.TRAILERS

    def _read_trailer(self, line: bytes) -> None:
        if not line:
            self.complete = True
            return
        match = _TRAILER.fullmatch(line)
        if match is None or match[1].lower() in _FORBIDDEN_TRAILERS:
            raise InvalidFraming("a trailer is malformed or forbidden")
        self._trailers.append(len(line))
        if len(self._trailers) > _MAX_TRAILERS or sum(self._trailers) > _MAX_TRAILER_BYTES:
            raise InvalidFraming("the trailers are too long")
