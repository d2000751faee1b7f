"""A body that is held up to its end, and changed as a whole: a large one in another process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from engine.process.child_process import ChildFailed
from engine.relay.filter import UNDECODABLE, Filter, Unreadable
from engine.relay.held_body import PIECE, HeldBody, close_aside, write_all
from engine.values.content_coding import decode_body

log = logging.getLogger("modelway")

UNCHANGEABLE = "the gateway could not translate or edit the upstream's answer"


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
        self._held = HeldBody(encoding)
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._observe = observe

    def feed(self, data: bytes) -> bytes:
        self._observe(data)
        try:
            self._held.add(data)
        except OSError as error:
            self._fail(error)
        if self._held.size > self._max_bytes:
            self.failure = Unreadable(f"the upstream's answer has over {self._max_bytes} bytes")
        return b""

    def finish(self) -> bytes:
        if not self._held.is_large:
            data = self._changed()
            if self.failure is None:
                data = corrected(data, self.settle(self.outcome()))
            return data
        try:
            (self.failure, outcome), self._file = self._held.aside(self._write_changed)
            if self.failure is None and (correction := self.settle(outcome)) is not None:
                os.pwrite(self._file.fileno(), correction.data, correction.offset)
        except (OSError, ChildFailed) as error:
            self._fail(error)
        self._held.close()
        if self.failure is not None:
            self.close()
            return b""
        return self.more()

    def _fail(self, error: OSError | ChildFailed) -> None:
        log.error("a large answer cannot be changed: the process for it %s", error)
        self.failure = Unreadable(UNCHANGEABLE)

    def _write_changed(self, file: IO[bytes]) -> tuple[Exception | None, Any]:
        """In the other process: write the changed body, and return the failure and the outcome."""
        write_all(file, self._changed())
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
        self._held.close()
        file, self._file = self._file, None
        if file is not None:
            close_aside(file)

    def _changed(self) -> bytes:
        self.received = self._held.take()
        text = decode_body(self._encoding, self.received)
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
