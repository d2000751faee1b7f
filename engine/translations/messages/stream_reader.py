"""The events of messages -> neutral events. Messages in one piece are read with it, too.

A stream is `message_start`, then each block as `content_block_start`, deltas and
`content_block_stop`, one after another, then `message_delta` with the reason of the end (it may
come again) and `message_stop`. `ping` and events of kinds not known here say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.translations.messages.answer_fields import UsageReader, error_event, read_finish
from engine.translations.messages.block_reader import BlockReader
from engine.translations.neutral.events import BrokenAnswer, End, Event, Finish, Start
from engine.translations.neutral.members import Members


class Reader:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._usage = UsageReader()
        self._finish: Finish | None = None
        self._blocks = BlockReader()
        self._index: int | None = None

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one event of the stream."""
        if self._ended:
            return
        event = Members(data)
        match event.text("type"):
            case "message_start":
                yield from self.start(_object(event, "message"))
            case "content_block_start":
                raw = Raw(event.peek("content_block"))
                yield from self.open(_object(event, "content_block"), raw)
                self._index = event.integer("index")
            case "content_block_delta":
                self._check_index(event)
                raw = Raw(event.peek("delta"))
                yield from self._blocks.delta(_object(event, "delta"), raw)
            case "content_block_stop":
                self._check_index(event)
                yield from self.close()
            case "message_delta":
                self._usage.read(event.members("usage"))
                if (delta := event.members("delta")) is not None:
                    self.finish(delta)
            case "message_stop":
                yield from self.end()
            case "error":
                raise error_event(msgspec.json.decode(data))

    def start(self, message: Members) -> Iterator[Event]:
        """The first event; the message is empty in a stream."""
        if self._started:
            raise BrokenAnswer("the upstream's answer starts twice")
        self._started = True
        self._usage.read(message.members("usage"))
        yield Start(
            id=message.text("id") or "",
            model=message.text("model") or "",
            usage=self._usage.usage(),
        )

    def open(self, members: Members, raw: Raw) -> Iterator[Event]:
        """A block begins with the contents that it has; in one piece these are all."""
        if not self._started or self._blocks.is_open or self._finish is not None:
            raise _disorder()
        yield from self._blocks.open(members, raw)

    def close(self) -> Iterator[Event]:
        """The open block is complete."""
        yield from self._blocks.close()

    def finish(self, members: Members) -> None:
        """Take the reason of the end, if the members have one; the first counts."""
        reason = members.text("stop_reason")
        if reason and self._finish is None:
            self._finish = read_finish(members, reason, called=self._blocks.called)

    def end(self) -> Iterator[Event]:
        """The last event. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return
        if not self._started or self._blocks.is_open or self._finish is None:
            raise BrokenAnswer("the upstream's answer ended before it was complete")
        self._ended = True
        yield End(finishes={0: self._finish}, usage=self._usage.usage())

    def _check_index(self, event: Members) -> None:
        if not self._blocks.is_open or event.integer("index") != self._index:
            raise _disorder()


def _object(event: Members, name: str) -> Members:
    members = event.members(name)
    if members is None:
        raise event.wrong(name, "an object")
    return members


def _disorder() -> BrokenAnswer:
    return BrokenAnswer("the upstream's answer has a block out of order")
