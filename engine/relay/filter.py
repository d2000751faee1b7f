"""The one interface of bytes that pass, and filters for bodies of any format."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from typing import IO

import gevent

from engine.process.aside import aside
from engine.process.child_process import ChildFailed
from engine.values.content_coding import DecodeError, Decoder, decode_body

log = logging.getLogger("modelway")


class Filter:
    """Gets the bytes of one body as they arrive, and returns those that pass. This one passes all.

    `failure` is why the body cannot be read further: what `feed` and `finish` returned until then
    passes, and neither is called again. It is Unreadable, EOFError for an end within a part, or one
    of the filter's own.
    """

    failure: Exception | None = None

    @property
    def ended(self) -> bool:
        """Whether the body has said that it is complete: then a connection that breaks off is no
        failure. False for all bodies that only their last byte completes."""
        return False

    def feed(self, data: bytes) -> bytes:
        """What `data` completes, `b""` for nothing. Raises EventTooLarge for a part that is too
        long to be held."""
        return data

    def finish(self) -> bytes:
        """What the end of the body completes, or the beginning of it."""
        return b""

    @property
    def has_more(self) -> bool:
        """Whether `more` has the rest of what the end has completed."""
        return False

    def more(self) -> bytes:
        """The next part of that, `b""` at its end."""
        return b""

    def close(self) -> None:
        """Nothing more is read."""


class Unreadable(Exception):
    """A body is not in its format. The text is a sentence about the upstream's answer."""


def unreadable(reason: str) -> Filter:
    """The filter of a body that cannot be read at all."""
    body = Filter()
    body.failure = Unreadable(reason)
    return body


UNCHANGEABLE = "the gateway could not translate or edit the upstream's answer"
UNDECODABLE = "the upstream's answer has a content coding that cannot be decoded"


class Decoding(Filter):
    """Removes the Content-Encoding of a body, of which each part may decode to MAX_DECODED bytes,
    and all of it to more."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def feed(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        try:
            self._decoder.refill()
            pieces.extend(self._decoder.feed(data))
        except DecodeError as error:
            self.failure = Unreadable(f"the upstream's answer cannot be read: {error}")
        return b"".join(pieces)

    def finish(self) -> bytes:
        if not self._decoder.ended:
            self.failure = EOFError("the encoded body is not complete")
        return b""


_PIECE = 262_144
LARGE = 1_000_000
"""Bytes of a body that takes so long to change that others must not wait for it."""


class WholeBody(Filter):
    """Holds a body of at most `max_bytes`, and passes at its end what `change` makes of it without
    its Content-Encoding. `observe` gets each part as it arrives.

    A large one is changed in another process, which writes it to a file: of what `change` does to
    objects, only the failure comes back."""

    _file: IO[bytes] | None = None

    def __init__(self, max_bytes: int, encoding: str, observe: Callable[[bytes], None]) -> None:
        self.received = bytearray()
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._observe = observe

    def feed(self, data: bytes) -> bytes:
        self._observe(data)
        self.received += data
        if len(self.received) > self._max_bytes:
            self.failure = Unreadable(f"the upstream's answer has over {self._max_bytes} bytes")
        return b""

    def finish(self) -> bytes:
        if len(self.received) <= LARGE:
            return self._changed()
        try:
            self._file = tempfile.TemporaryFile(prefix="modelway-", buffering=0)  # noqa: SIM115
            self.failure = aside(self._write_changed, keep=self._file.fileno())
        except (OSError, ChildFailed) as error:
            log.error("a large answer cannot be changed: the process for it %s", error)
            self.failure = Unreadable(UNCHANGEABLE)
        if self._file is None or self.failure is not None:
            self.close()
            return b""
        self.received.clear()
        self._file.seek(0)
        return self.more()

    def _write_changed(self) -> Exception | None:
        """In the other process: write the changed body, and return the failure."""
        assert self._file is not None
        remaining = memoryview(self._changed())
        while remaining:
            remaining = remaining[self._file.write(remaining) :]
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
        file, self._file = self._file, None
        if file is not None:  # in a thread: to free its pages takes milliseconds
            gevent.get_hub().threadpool.spawn(file.close)

    def _changed(self) -> bytes:
        text = decode_body(self._encoding, bytes(self.received))
        if text is None:
            self.failure = Unreadable(UNDECODABLE)
            return b""
        return self.change(text)

    def change(self, text: bytes) -> bytes:
        """What passes of the body, which is decoded. It may set the failure."""
        return text
