"""Receives bodies: a small one in memory, a large one in a temporary file."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, MADV_DONTNEED, mmap
from typing import IO

from engine.exchange.caller_connection import Readable
from engine.exchange.request_body import IN_MEMORY, Body, incomplete, too_large
from engine.process.log_throttle import LogThrottle
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit

_log = LogThrottle(level=logging.ERROR)
_CHUNK = 65_536
_WINDOW = 262_144
"""Bytes of a file that are mapped into memory while it is searched."""
assert _WINDOW % ALLOCATIONGRANULARITY == 0  # or the pages of a window could not be let go


class FileView(mmap):
    """A file in memory, of which a search leaves nothing there: else a body of 1 GB would count as
    as much memory of the process that looks for the boundaries of its parts."""

    def find(self, sub: bytes, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        """As `bytes.find`, for a `start` and an `end` that are not negative."""
        end = len(self) if end is None else min(end, len(self))
        at = start
        while at < end:
            window = at - at % _WINDOW
            position = super().find(sub, at, min(window + _WINDOW + len(sub) - 1, end))
            self.madvise(MADV_DONTNEED, window, min(_WINDOW, len(self) - window))
            if position >= 0:
                return position
            at = window + _WINDOW
        return -1

    def rfind(self, sub: bytes, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        """As `bytes.rfind`, for a `start` and an `end` that are not negative."""
        end = at = len(self) if end is None else min(end, len(self))
        while at > start:
            window = at - 1 - (at - 1) % _WINDOW
            last = min(window + _WINDOW + len(sub) - 1, end)
            position = super().rfind(sub, max(window, start), last)
            self.madvise(MADV_DONTNEED, window, min(_WINDOW, len(self) - window))
            if position >= 0:
                return position
            at = window
        return -1

    def forget(self, start: int, end: int) -> None:
        """Let go of the pages between two positions, which were read and are not needed again."""
        first = start - start % _WINDOW
        self.madvise(MADV_DONTNEED, first, min(end, len(self)) - first)


class SpooledBody(Body):
    """A body on disk: pieces of its temporary file, which has `size` bytes, and of memory."""

    __slots__ = ("_file", "_map", "_pieces")

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._map: mmap | None = None
        self._pieces: list[bytes | tuple[int, int]] = [(0, size)]
        self.in_memory, self.only_name, self.size = None, b"", size

    @property
    def buffer(self) -> mmap:  # type: ignore[override]  # most bodies on disk are only sent on
        if self._map is None:
            self._map = FileView(self._file.fileno(), 0, access=ACCESS_READ)
        return self._map

    def chunks(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, bytes):
                yield piece
                continue
            at, end = piece
            while at < end:
                self._file.seek(at)
                data = self._file.read(min(_CHUNK, end - at))
                at += len(data)
                yield data

    def with_edits(self, *edits: Edit) -> SpooledBody:
        pieces: list[bytes | tuple[int, int]] = []
        at = 0
        for start, end, new in sorted(edits):
            pieces += [(at, start), new]
            at = end
        pieces.append((at, self.size))
        body = SpooledBody(self._file, sum(map(_size_of, pieces)))
        body._map, body._pieces = self._map, pieces
        return body

    def rewrite(self, *edits: Edit) -> Body:
        return spool(self.with_edits(*edits).chunks())

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
        self._file.close()


def _size_of(piece: bytes | tuple[int, int]) -> int:
    return len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]


def receive(stream: Readable, length: int | None, limit: int) -> Body:
    """Read a body of `length` bytes, or to its end if `length` is None.

    Raises GatewayError: 413 for more than `limit` bytes, 400 if the body is shorter than `length`.
    """
    if length is not None:
        if length > limit:
            raise too_large(limit)
        if length <= IN_MEMORY:
            data = stream.read(length) if length else b""
            if len(data) < length:
                raise incomplete(len(data), length)
            return Body(data)
    data = stream.read(IN_MEMORY + 1)
    if len(data) > limit:
        raise too_large(limit)
    if len(data) <= IN_MEMORY:
        if length is not None:
            raise incomplete(len(data), length)
        return Body(data)
    return spool(_bounded(stream, data, length, limit))


def _bounded(stream: Readable, data: bytes, length: int | None, limit: int) -> Iterator[bytes]:
    size = 0
    while data:
        size += len(data)
        if size > limit:
            raise too_large(limit)
        yield data
        data = stream.read(_CHUNK)
    if length is not None and size < length:
        raise incomplete(size, length)


def spool(chunks: Iterable[bytes]) -> SpooledBody:
    """Write a body to disk; the caller closes it. Raises GatewayError 503 for a disk without room,
    on which nothing of it stays."""
    with _writing():
        file = tempfile.TemporaryFile(prefix="modelway-")  # noqa: SIM115 - the Body closes it
    try:
        size = 0
        for chunk in chunks:
            with _writing():
                file.write(chunk)
            size += len(chunk)
        with _writing():
            file.flush()
    except BaseException:
        with suppress(OSError):  # of what the disk does not take when it is closed, either
            file.close()
        raise
    return SpooledBody(file, size)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        folder = tempfile.tempdir or "a temporary folder"
        _log.log("the body of a request cannot be written to %s: %s", folder, error.strerror)
        message = "The gateway has no room for a body of this size at the moment. Try again later."
        headers = [("retry-after", "1")]
        raise GatewayError(503, "no_room_for_body", message, headers=headers) from error
