"""What passes on one way of a session, counted; usage read from it, without keeping it."""

from __future__ import annotations

from collections.abc import Callable

from websockets.frames import CONT, TEXT, Frame

from engine.exchange.record import MessageCount
from engine.values.usage import NOTHING, Usage

Read = Callable[[bytes | bytearray], Usage | None]
"""The usage that a text message tells of, or None; called for every one, so it looks first."""

LONGEST_PUT_TOGETHER = 256 * 1024
"""Bytes of a message in fragments beyond which nothing is read from it."""


class Tally:
    """Counts data frames into `passed`; `read` reads text messages, `total` adds up what it finds.

    A message in one frame is read where it lies; one in fragments is put together first, up to a
    bound, and only where there is a `read`.
    """

    def __init__(self, passed: MessageCount, read: Read | None = None) -> None:
        self.total = NOTHING
        self._passed = passed
        self._usage = read
        self._parts: bytearray | None = None

    def note(self, frame: Frame) -> None:
        """A data frame passes."""
        passed = self._passed
        passed.bytes += len(frame.data)
        if frame.opcode is not CONT:
            passed.messages += 1
        if self._usage is not None:
            self._read(frame, self._usage)

    def _read(self, frame: Frame, usage: Read) -> None:
        if frame.opcode is TEXT:
            if frame.fin:
                data = frame.data
                self._add(usage(bytes(data) if isinstance(data, memoryview) else data))
                return
            self._parts = bytearray()
        if self._parts is None:
            return
        if len(self._parts) + len(frame.data) > LONGEST_PUT_TOGETHER:
            self._parts = None
            return
        self._parts += frame.data
        if frame.fin:
            self._add(usage(self._parts))
            self._parts = None

    def _add(self, found: Usage | None) -> None:
        if found is not None:
            self.total += found
