"""Counts the messages of one direction of a session, and reads usage from them."""

from __future__ import annotations

from collections.abc import Callable

from websockets.frames import CONT, Frame

from engine.exchange.record import MessageCount
from engine.values.usage import NO_USAGE, Usage

ReadUsage = Callable[[bytes | bytearray], Usage | None]
"""Returns the usage that a message reports, or None. It is called for every message, so it
searches before it parses."""

MAX_JOINED = 256 * 1024
"""The longest message in fragments, in bytes, from which usage is read."""


class TrafficReader:
    """Counts data frames into `count`; `usage` is the sum of what `read_usage` returned.

    A message in fragments is joined first, up to a bound, if there is a `read_usage`.
    """

    def __init__(self, count: MessageCount, read_usage: ReadUsage | None = None) -> None:
        self.usage = NO_USAGE
        self._count = count
        self._read_usage = read_usage
        self._parts: bytearray | None = None

    def add(self, frame: Frame) -> None:
        """Count a data frame."""
        count = self._count
        count.bytes += len(frame.data)
        if frame.opcode is not CONT:
            count.messages += 1
        if self._read_usage is not None:
            self._read(frame, self._read_usage)

    def _read(self, frame: Frame, read_usage: ReadUsage) -> None:
        if frame.opcode is not CONT:  # Gemini sends its JSON as binary
            if frame.fin:
                data = frame.data
                self._add(read_usage(bytes(data) if isinstance(data, memoryview) else data))
                return
            self._parts = bytearray()
        if self._parts is None:
            return
        if len(self._parts) + len(frame.data) > MAX_JOINED:
            self._parts = None
            return
        self._parts += frame.data
        if frame.fin:
            self._add(read_usage(self._parts))
            self._parts = None

    def _add(self, usage: Usage | None) -> None:
        if usage is not None:
            self.usage += usage
