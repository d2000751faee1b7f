"""A body that is held up to its end, and changed as a whole: a large one in another process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from typing import IO, Any, NamedTuple

from engine.process.child_process import ChildFailed
from engine.relay.filter import UNDECODABLE, Filter, Unreadable
from engine.relay.held_body import LARGE, PIECE, HeldBody, close_aside, write_all
from engine.values.content_coding import decode_body
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

UNCHANGED = "answer_not_changed"


def has_whole_body(method: str, status: int) -> bool:
    """Whether a response has a body, and all of it: it is a success that is not partial."""
    return method != "HEAD" and 200 <= status < 300 and status not in (204, 206)


class Correction(NamedTuple):
    """Bytes that replace as many others of a changed body, at an offset."""

    offset: int
    data: bytes


def corrected(body: bytes, correction: Correction | None) -> bytes:
    """A changed body with its correction, if any."""
    if correction is None:
        return body
    offset, data = correction
    return body[:offset] + data + body[offset + len(data) :]


class WholeBody(Filter):
    """Holds a body of at most `max_bytes`, and passes at its end what `change` makes of it without
    its Content-Encoding. `observe` gets each part as it arrives.

    A large one is changed in another process, which writes it to a file: of what `change` does to
    objects, only the failure and the `outcome` come back.
    """

    received = b""
    _file: IO[bytes] | None = None

    def __init__(self, max_bytes: int, encoding: str, observe: Callable[[bytes], None]) -> None:
        self._held: HeldBody | None = None  # nothing of a small body in one piece is held
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._observe = observe

    def feed(self, data: bytes) -> bytes:
        self._observe(data)
        held = self._held = self._held or HeldBody(self._encoding)
        try:
            held.add(data)
        except OSError as error:
            self._fail(f"it cannot be held: {error.strerror}")
        if held.size > self._max_bytes:
            self.failure = Unreadable(f"the upstream's answer has over {self._max_bytes} bytes")
        return b""

    def feed_last(self, data: bytes) -> bytes:
        if self._held is not None or self._encoding or len(data) > min(LARGE, self._max_bytes):
            return super().feed_last(data)
        self._observe(data)
        return self._small(data)

    def finish(self) -> bytes:
        held = self._held
        if held is None or not held.is_large:
            return self._small(b"" if held is None else held.take())
        try:
            (self.failure, outcome), self._file = held.aside(partial(self._write_changed, held))
            if self.failure is None and (correction := self.settle(outcome)) is not None:
                os.pwrite(self._file.fileno(), correction.data, correction.offset)
        except (OSError, ChildFailed) as error:
            self._fail(f"the process for it {error}")
        held.close()
        if self.failure is not None:
            self.close()
            return b""
        return self.more()

    def _small(self, body: bytes) -> bytes:
        """What passes of a body that is not large."""
        data = self._changed(body)
        return data if self.failure is not None else corrected(data, self.settle(self.outcome()))

    def _fail(self, reason: str) -> None:
        """The upstream is not at fault, and charges for each answer: nobody asks again at once."""
        log.error("a large answer cannot be changed: %s", reason)
        message = "The gateway could not translate or edit the answer. Try again later."
        self.failure = GatewayError(503, UNCHANGED, message, retry=False)

    def _write_changed(self, held: HeldBody, file: IO[bytes]) -> tuple[Exception | None, Any]:
        """In the other process: write the changed body, and return the failure and the outcome."""
        write_all(file, self._changed(held.take()))
        return self.failure, self.outcome()

    @property
    def has_more(self) -> bool:
        return self._file is not None

    def more(self) -> bytes:
        data = b"" if self._file is None else self._file.read(PIECE)
        if not data:
            self.close()
        return data

    def close(self) -> None:
        if self._held is not None:
            self._held.close()
        file, self._file = self._file, None
        if file is not None:
            close_aside(file)

    def _changed(self, body: bytes) -> bytes:
        self.received = body
        text = decode_body(self._encoding, body)
        if text is None:
            self.failure = Unreadable(UNDECODABLE)
            return b""
        return self.change(text)

    def change(self, text: bytes) -> bytes:
        """What passes of the body, which is decoded, and arrived as `received`. It may set the
        failure."""
        return text

    def outcome(self) -> Any:
        """What `change` has found, for `settle`; it can be pickled."""

    def settle(self, outcome: Any) -> Correction | None:
        """In this process: do what follows from it. Returns what has to be corrected then."""
