"""The events of messages -> neutral events. Messages in one piece are read with it, too.

A stream is `message_start`, then each block as `content_block_start`, deltas and
`content_block_stop`, one after another, then `message_delta` with the reason of the end (it may
come again) and `message_stop`. `ping` and events of kinds not known here say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from engine.translations.messages.answer_fields import ERRORS, read_finish
from engine.translations.messages.answer_shapes import (
    BLOCK_EVENT,
    ENDING,
    NULL,
    START_EVENT,
    STREAM_EVENT,
    Ending,
    Head,
    Message,
    StreamEvent,
)
from engine.translations.messages.block_reader import BlockReader
from engine.translations.neutral.events import BrokenAnswer, End, Event, Finish, Start
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.shapes import read_shape


class Reader:
    """Reads the events of one stream."""

    _started = _ended = False
    _finish: Finish | None = None
    _index: int | None = None

    def __init__(self) -> None:
        self._blocks = BlockReader()

    def read(self, data: bytes) -> Iterable[Event]:
        """The events of one event of the stream."""
        if self._ended:
            return ()
        event = read_shape(STREAM_EVENT, data)
        kind = event.type
        if kind == "content_block_delta":  # nearly every event
            self._check_index(event)
            return self._blocks.delta(event.delta, "delta")
        if kind == "content_block_start":
            raw = _present(read_shape(BLOCK_EVENT, data).content_block, "content_block")
            self._index = event.index
            return self.open(raw, "content_block")
        if kind == "content_block_stop":
            self._check_index(event)
            return self._blocks.close()
        if kind == "error":
            raise ERRORS.inside(msgspec.json.decode(data))
        return self._read_frame(event, data)

    def _read_frame(self, event: StreamEvent, data: bytes) -> Iterable[Event]:
        """The events around the blocks."""
        if event.type == "message_start":
            message = read_shape(START_EVENT, data).message
            if message is None:
                raise WrongType("message", "an object")
            return (self.start(message),)
        if event.type == "message_delta":
            ending = read_shape(ENDING, event.delta, "delta")
            if ending is not None:
                self.finish(ending)
        elif event.type == "message_stop":
            return self.end()
        elif event.type != "ping":
            ERRORS.refuse(data)  # in another vendor's form, as gateways write it
        return ()

    def start(self, message: Head | Message) -> Start:
        """The first event."""
        if self._started:
            raise BrokenAnswer("the upstream's answer starts twice")
        self._started = True
        return Start(id=message.id or "", model=message.model or "")

    def open(self, raw: Raw, place: str) -> list[Event]:
        """A block begins with the contents that it has; in one piece these are all."""
        if not self._started or self._blocks.is_open or self._finish is not None:
            raise _disorder()
        return self._blocks.open(raw, place)

    def whole_block(self, raw: Raw, place: str) -> list[Event]:
        """A block of a message in one piece."""
        return self.open(raw, place) + self._blocks.close()

    def finish(self, ending: Ending) -> None:
        """Take the reason of the end, if there is one; the first counts."""
        if ending.stop_reason and self._finish is None:
            self._finish = read_finish(ending)

    def end(self) -> Iterable[Event]:
        """The last event. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return ()
        if not self._started or self._blocks.is_open or self._finish is None:
            raise BrokenAnswer("the upstream's answer ended before it was complete")
        self._ended = True
        return (End(finishes={0: self._finish}),)

    def _check_index(self, event: StreamEvent) -> None:
        if not self._blocks.is_open or event.index != self._index:
            raise _disorder()


def _present(raw: Raw, name: str) -> Raw:
    if raw == NULL:
        raise WrongType(name, "an object")
    return raw


def _disorder() -> BrokenAnswer:
    return BrokenAnswer("the upstream's answer has a block out of order")
