"""Messages in one piece and the events of their streams -> neutral events.

A stream is `message_start` (some servers leave it out), then each block as `content_block_start`,
deltas and `content_block_stop`, then `message_delta` with the reason of the end (it may come again)
and `message_stop`. `ping` and events of kinds not known here say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw

from engine.dialects.interface.error_forms import NO_REASONS
from engine.translations.messages import answer_fields as fields
from engine.translations.messages.block_reader import BlockReader
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_end_marker
from engine.translations.neutral.calls import name_of_answer
from engine.translations.neutral.json_members import NOT_OF_TYPE, NULL, WrongType
from engine.translations.neutral.open_parts import MessageReader
from engine.translations.neutral.refusals import is_error

_decode_event = fields.STREAM_EVENT.decode
_ERROR, _MESSAGE = Raw(b'"error"'), Raw(b'"message"')


def read_answer(body: bytes) -> Iterator[events.Event]:
    message = fields.MESSAGE.read(body)
    if message.type == _ERROR or is_error(message.error):
        raise fields.ERRORS.inside(msgspec.json.decode(body))
    if message.content is None:
        fields.ERRORS.refuse_whole(body)
        if message.type not in (NULL, _MESSAGE):  # of an API before this one
            raise events.BrokenAnswer("the upstream's answer has no content")
    name = name_of_answer(message.id, body)
    yield events.Start(id=message.id or "", model=message.model or "")
    for index, raw in enumerate(_blocks(message)):
        block = BlockReader(f"{name}:{index}")
        yield from block.open(raw, f"content[{index}]")
        yield from block.end()
    if not (message.stop_reason or message.content):
        raise events.BrokenAnswer("the upstream's answer ended before it was complete")
    yield events.End(finishes={0: fields.read_finish(message)})


def _blocks(message: fields.Message) -> list[Raw]:
    """The blocks of a message; some servers write a text in their place, as requests may."""
    content = message.content or []
    items = [Raw(msgspec.json.encode(content))] if isinstance(content, str) else content
    return [
        Raw(b'{"type":"text","text":%b}' % bytes(raw)) if bytes(raw)[:1] == b'"' else raw
        for raw in items
        if raw != NULL
    ]


class Reader(MessageReader[BlockReader]):
    _has_delta = False

    def __init__(self) -> None:
        super().__init__(BlockReader)

    def read(self, data: bytes) -> Iterable[events.Event]:
        if self._ended:
            return ()
        try:
            event = _decode_event(data)
        except NOT_OF_TYPE:
            if is_end_marker(data):
                return ()
            event = fields.STREAM_EVENT.read(data)
        blocks, is_delta = self._blocks, event.type == "content_block_delta"
        if is_delta and event.index == blocks.index and blocks.current is not None:
            return blocks.current.delta(event.delta, "delta")  # nearly every event
        if is_delta or event.type in ("content_block_start", "content_block_stop"):
            if self._started:
                return self._read_block(event, data)
            return (self._start(fields.Head(), data), *self._read_block(event, data))
        if event.type == "error":
            raise fields.ERRORS.inside(msgspec.json.decode(data))
        return self._read_frame(event, data)

    def _read_block(self, event: fields.StreamEvent, data: bytes) -> Iterable[events.Event]:
        blocks = self._blocks
        is_end = event.type == "content_block_stop"
        if is_end and self._finish is not None and event.index in blocks:
            return ()  # the end of the message is its end
        block = self._block(event.index)
        if event.type == "content_block_delta":
            return blocks.in_order(block, block.delta(event.delta, "delta"))
        if is_end:
            return blocks.in_order(block, block.end())
        raw = fields.BEGIN_EVENT.read(data).content_block
        if raw == NULL:
            raise WrongType("content_block", "an object")
        return blocks.in_order(block, block.open(raw, "content_block"))

    def _read_frame(self, event: fields.StreamEvent, data: bytes) -> Iterable[events.Event]:
        if event.type == "message_start":
            if (message := fields.BEGIN_EVENT.read(data).message) is None:
                raise WrongType("message", "an object")
            return () if self._started else (self._start(message, data),)  # some repeat it
        if event.type == "message_delta":
            ending = fields.ENDING.read(event.delta, "delta")
            self._has_delta = True
            has_reason = ending is not None and ending.stop_reason not in (None, "", *NO_REASONS)
            if ending is not None and has_reason and self._finish is None:
                self._finish = fields.read_finish(ending)
        elif event.type == "message_stop":
            is_whole = self._blocks.count and self._blocks.current is None
            if self._finish is None and self._has_delta and is_whole:
                self._finish = events.Finish(stop="end")  # gateways lose the reason
            return self.end()
        elif event.type != "ping":
            fields.ERRORS.refuse(data)  # in another vendor's form, as gateways write it
        return ()

    def _start(self, message: fields.Head, data: bytes) -> events.Start:
        self._started = True
        self._blocks.name = name_of_answer(message.id, data)
        return events.Start(id=message.id or "", model=message.model or "")
