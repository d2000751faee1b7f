"""What passes on one way of a session, counted; usage read from it, without keeping it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from websockets.frames import CONT, TEXT, Frame

from engine.exchange import Passed

Usage = Callable[[bytes | bytearray], Mapping[str, Any] | None]
"""The usage that a text message tells of, or None; called for every one, so it looks first."""

LONGEST_PUT_TOGETHER = 256 * 1024
"""Bytes of a message in fragments beyond which nothing is read from it."""


class Tally:
    """Counts data frames into `passed`; `usage` reads text messages, `total` adds up what it finds.

    A message in one frame is read where it lies; one in fragments is put together first, up to a
    bound, and only where there is a `usage`.
    """

    def __init__(self, passed: Passed, usage: Usage | None, total: dict[str, Any]) -> None:
        self._passed = passed
        self._usage = usage
        self._total = total
        self._parts: bytearray | None = None

    def note(self, frame: Frame) -> None:
        """A data frame passes."""
        passed = self._passed
        passed.bytes += len(frame.data)
        if frame.opcode is not CONT:
            passed.messages += 1
        if self._usage is not None:
            self._read(frame, self._usage)

    def _read(self, frame: Frame, usage: Usage) -> None:
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

    def _add(self, found: Mapping[str, Any] | None) -> None:
        if found is not None:
            add(self._total, found)


def add(total: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add the counts of `found` to those of `total`, member by member; only counts are taken."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            below = total.setdefault(name, {})
            if isinstance(below, dict):
                add(below, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            before = total.get(name, 0)
            if isinstance(before, int | float):
                total[name] = before + value
