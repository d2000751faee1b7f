"""The bytes of a body that is held up to its end. A large one is kept in a file in memory, and what
is made of it is computed in another process: to copy megabytes, to parse them or to free them holds
the event loop for longer than others must wait.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

import gevent

from engine.process.computation import compute_in_child
from engine.values.content_coding import DecodeError, decode_body, decoder

LARGE = 1_000_000
"""Bytes of a text that takes so long to compute with that others must not wait for it."""

PIECE = 262_144
"""Bytes of a file that are read at once."""

Result = TypeVar("Result")


class HeldBody:
    """A body with this Content-Encoding, as it arrives. `is_large`: its text has over LARGE bytes,
    and its bytes are in a file, which takes no part in a fork, and whose pages are freed by the
    process that takes them."""

    def __init__(self, encoding: str) -> None:
        self.size = 0
        self._encoding = encoding
        self._text = _TextSize(encoding) if encoding else None
        self._buffer = bytearray()
        self._file: IO[bytes] | None = None

    @property
    def is_large(self) -> bool:
        return self._file is not None

    def add(self, data: bytes) -> None:
        """Raises OSError, if there is no memory: then it is not held."""
        if self._file is not None:
            self._write(self._file, data)
        elif (
            self.size + len(data) > LARGE if self._text is None else self._text.is_large_with(data)
        ):
            file = os.fdopen(os.memfd_create("modelway-body"), "w+b", buffering=0)
            try:
                write_all(file, self._buffer)
                self._write(file, data)
            except OSError:
                file.close()
                raise
            self._file, self._buffer = file, bytearray()
        else:
            self._buffer += data
        self.size += len(data)

    def _write(self, file: IO[bytes], data: bytes) -> None:
        """Write the data behind that of before, or nothing of it."""
        try:
            write_all(file, data)
        except OSError:
            file.truncate(self.size)
            file.seek(self.size)
            raise

    def take(self) -> bytes:
        """The bytes as they arrived, which are freed in the file."""
        if self._file is None:
            return bytes(self._buffer)
        data = os.pread(self._file.fileno(), self.size, 0)
        self._file.truncate(0)
        return data

    def decode(self) -> bytes | None:
        """The text, None if its Content-Encoding cannot be decoded. As `take` otherwise."""
        return decode_body(self._encoding, self.take())

    def decode_copy(self) -> bytes | None:
        """As `decode`; the bytes are kept."""
        if self._file is None:
            return decode_body(self._encoding, bytes(self._buffer))
        return decode_body(self._encoding, os.pread(self._file.fileno(), self.size, 0))

    def pieces(self) -> Iterator[bytes]:
        """The bytes as they arrived, those of a large body in pieces. They are not kept."""
        file, self._file = self._file, None
        if file is None:
            return iter([self.take()])
        file.seek(0)
        return file_pieces(file)

    def aside(self, compute: Callable[[IO[bytes]], Result]) -> tuple[Result, IO[bytes]]:
        """What a function returns that takes the bytes of a large body in another process, and the
        file that it was given to write to, at its start. Raises OSError and ChildFailed."""
        assert self._file is not None
        output = tempfile.TemporaryFile(prefix="modelway-", buffering=0)  # noqa: SIM115
        try:
            keep = output.fileno(), self._file.fileno()
            result = compute_in_child(lambda: compute(output), keep=keep)
        except BaseException:
            close_aside(output)
            raise
        output.seek(0)
        return result, output

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            close_aside(file)


class _TextSize:
    """Counts the bytes of a text that has a Content-Encoding, up to those of a large one."""

    def __init__(self, encoding: str) -> None:
        self._decoder = decoder(encoding)
        self._size = 0

    def is_large_with(self, data: bytes) -> bool:
        """Whether the text is large with the next bytes of the body."""
        if self._decoder is None:
            self._size += len(data)
            return self._size > LARGE
        try:
            for piece in self._decoder.feed(data):
                self._size += len(piece)
                if self._size > LARGE:
                    self._decoder = None
                    break
        except DecodeError:  # it can be decoded no further at the end either
            self._decoder = None
        return self._size > LARGE


def write_all(file: IO[bytes], data: bytes | bytearray) -> None:
    """Write all of the data to a file without a buffer."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def file_pieces(file: IO[bytes]) -> Iterator[bytes]:
    """The rest of a file in pieces; then it is closed."""
    try:
        while data := file.read(PIECE):
            yield data
    finally:
        close_aside(file)


def close_aside(file: IO[bytes]) -> None:
    """Close a file in a thread: to free its pages takes milliseconds."""
    gevent.get_hub().threadpool.spawn(file.close)
