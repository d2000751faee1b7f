"""Counts the messages of one direction of a session, and reads usage from them."""

from __future__ import annotations

from collections.abc import Callable

from websockets.frames import CONT, Frame

from engine.exchange.request_record import MessageCount
from engine.values.usage import NO_USAGE, Usage

ReadUsage = Callable[[bytes | bytearray], Usage | None]
"""Returns the usage that a message reports, or None. It is called for every message, so it
searches before it parses."""

MAX_JOINED = 256 * 1024
"""The longest message in fragments, in bytes, from which usage is read."""


class TrafficReader:
    """Counts data frames into `count`; `usage` is the sum of what `read_usage` returned, and the
    last that `read_total` did.

    A message in fragments is joined first, up to a bound, if there is one of both.
    """

    def __init__(
        self,
        count: MessageCount,
        read_usage: ReadUsage | None = None,
        read_total: ReadUsage | None = None,
    ) -> None:
        self._sum = self._total = NO_USAGE
        self._count = count
        self._readers = read_usage, read_total
        self._reads = read_usage is not None or read_total is not None
        self._parts: bytearray | None = None

    def add(self, frame: Frame) -> None:
        """Count a data frame."""
        count = self._count
        count.bytes += len(frame.data)
        if frame.opcode is not CONT:
            count.messages += 1
        if self._reads:
            self._read(frame)

    @property
    def usage(self) -> Usage:
        """The usage so far."""
        return self._sum + self._total if self._total is not NO_USAGE else self._sum

    def _read(self, frame: Frame) -> None:
        if frame.opcode is not CONT:  # Gemini sends its JSON as binary
            if frame.fin:
                data = frame.data
                self._add(bytes(data) if isinstance(data, memoryview) else data)
                return
            self._parts = bytearray()
        if self._parts is None:
            return
        if len(self._parts) + len(frame.data) > MAX_JOINED:
            self._parts = None
            return
        self._parts += frame.data
        if frame.fin:
            self._add(self._parts)
            self._parts = None

    def _add(self, message: bytes | bytearray) -> None:
        read_usage, read_total = self._readers
        if read_usage is not None and (usage := read_usage(message)) is not None:
            self._sum += usage
        if read_total is not None and (total := read_total(message)) is not None:
            self._total = total
