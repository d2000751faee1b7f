"""Edits of the messages of one direction of a session, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from websockets.frames import CONT, Frame, Opcode


class MessageEdits(Protocol):
    """Edits of the messages of a session (`engine.objects.session_ids.SessionIds`)."""

    def sent(self, message: bytes, /) -> bytes:
        """A message of the caller as the upstream gets it. Raises GatewayError for one that it must
        not get."""

    def received(self, message: bytes, /) -> bytes:
        """A message of the upstream as the caller gets it."""


class EditedFrames:
    """Joins the frames of each message of one direction, and edits it. The bound of a message is
    that of its channel."""

    def __init__(self, edit: Callable[[bytes], bytes]) -> None:
        self._edit = edit
        self._opcode: Opcode | None = None  # of a message in fragments
        self._parts = bytearray()

    def feed(self, frame: Frame) -> tuple[Opcode, Any] | None:
        """The message that a data frame completes, edited; None before its end. Raises what the
        edit raises."""
        if frame.opcode is not CONT:
            if frame.fin:
                return frame.opcode, self._edit(bytes(frame.data))
            self._opcode = frame.opcode
            self._parts.clear()
        self._parts += frame.data
        if not frame.fin or self._opcode is None:
            return None
        message = bytes(self._parts)
        self._parts.clear()
        return self._opcode, self._edit(message)
