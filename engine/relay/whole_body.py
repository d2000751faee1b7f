"""A body that is held up to its end, and changed as a whole: a large one in another process."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from typing import IO

import gevent

from engine.process.aside import aside
from engine.process.child_process import ChildFailed
from engine.relay.filter import UNDECODABLE, Filter, Unreadable
from engine.values.content_coding import DecodeError, decode_body, decoder

log = logging.getLogger("modelway")

UNCHANGEABLE = "the gateway could not translate or edit the upstream's answer"
_PIECE = 262_144
LARGE = 1_000_000
"""Bytes of a text that takes so long to change that others must not wait for it."""


def has_whole_body(method: str, status: int) -> bool:
    """Whether a response has a body, and all of it: it is a success that is not partial."""
    return method != "HEAD" and 200 <= status < 300 and status not in (204, 206)


class WholeBody(Filter):
    """Holds a body of at most `max_bytes`, and passes at its end what `change` makes of it without
    its Content-Encoding. `observe` gets each part as it arrives.

    A large one is changed in another process, which writes it to a file: of what `change` does to
    objects, only the failure comes back.
    """

    received = b""
    _file: IO[bytes] | None = None

    def __init__(self, max_bytes: int, encoding: str, observe: Callable[[bytes], None]) -> None:
        self._received = _ReceivedBytes()
        self._text = _TextSize(encoding)
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._observe = observe

    def feed(self, data: bytes) -> bytes:
        self._observe(data)
        received = self._received
        try:
            received.add(data)
            if self._text.is_large_with(data):
                received.move()
        except OSError as error:
            self._fail(error)
        if received.size > self._max_bytes:
            self.failure = Unreadable(f"the upstream's answer has over {self._max_bytes} bytes")
        return b""

    def finish(self) -> bytes:
        source = self._received.file
        if source is None:
            return self._changed()
        try:
            self._file = tempfile.TemporaryFile(prefix="modelway-", buffering=0)  # noqa: SIM115
            keep = self._file.fileno(), source.fileno()
            self.failure = aside(self._write_changed, keep=keep)
        except (OSError, ChildFailed) as error:
            self._fail(error)
        self._received.close()
        if self._file is None or self.failure is not None:
            self.close()
            return b""
        self._file.seek(0)
        return self.more()

    def _fail(self, error: OSError | ChildFailed) -> None:
        log.error("a large answer cannot be changed: the process for it %s", error)
        self.failure = Unreadable(UNCHANGEABLE)

    def _write_changed(self) -> Exception | None:
        """In the other process: write the changed body, and return the failure."""
        assert self._file is not None
        _write(self._file, self._changed())
        return self.failure

    @property
    def has_more(self) -> bool:
        return self._file is not None

    def more(self) -> bytes:
        data = b"" if self._file is None else self._file.read(_PIECE)
        if not data:
            self.close()
        return data

    def close(self) -> None:
        self._received.close()
        file, self._file = self._file, None
        if file is not None:
            _close(file)

    def _changed(self) -> bytes:
        self.received = self._received.take()
        text = decode_body(self._encoding, self.received)
        if text is None:
            self.failure = Unreadable(UNDECODABLE)
            return b""
        return self.change(text)

    def change(self, text: bytes) -> bytes:
        """What passes of the body, which is decoded, and arrived as `received`. It may set the
        failure."""
        return text


class _ReceivedBytes:
    """The bytes of a body, in a buffer. Those of a large one `move` to a `file` in memory: it takes
    no part in a fork, and its pages are freed by the process that has taken the bytes."""

    file: IO[bytes] | None = None

    def __init__(self) -> None:
        self.size = 0
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """Raises OSError, if there is no memory."""
        self.size += len(data)
        if self.file is None:
            self._buffer += data
        else:
            _write(self.file, data)

    def move(self) -> None:
        """Keep the bytes in a file from now on. Raises OSError."""
        if self.file is None:
            self.file = os.fdopen(os.memfd_create("modelway-body"), "w+b", buffering=0)
            _write(self.file, self._buffer)
            self._buffer = bytearray()

    def take(self) -> bytes:
        """The bytes, which are freed in the file."""
        if self.file is None:
            return bytes(self._buffer)
        data = os.pread(self.file.fileno(), self.size, 0)
        self.file.truncate(0)
        return data

    def close(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            _close(file)


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


def _write(file: IO[bytes], data: bytes | bytearray) -> None:
    """Write all of the data."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def _close(file: IO[bytes]) -> None:
    """Close a file in a thread: to free its pages takes milliseconds."""
    gevent.get_hub().threadpool.spawn(file.close)
