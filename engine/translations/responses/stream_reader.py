"""The events of a responses stream -> neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import Block, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    Event,
    Open,
    Sign,
    Tokens,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_answer_fields import error_inside, read_citation, read_logprobs
from engine.translations.responses.answer_fields import read_signature
from engine.translations.responses.answer_reader import (
    FUNCTION_CALL,
    NULL,
    read_call,
    read_end,
    read_item,
    read_items,
    read_start,
    read_thoughts,
)
from engine.translations.responses.answer_shapes import (
    ANNOTATION_EVENT,
    ARGUMENTS,
    CALL,
    END_EVENT,
    HEAD_EVENT,
    ITEM_EVENT,
    ITEM_ID,
    ITEM_OR_NONE,
    PART_EVENT,
    REFUSAL_PART,
    STREAM_EVENT,
    SUMMARY_EVENT,
    TEXT_DELTA,
    TEXT_PART,
    THOUGHTS,
    TextDelta,
)

_DELTAS: dict[str, type[Block]] = {
    "response.output_text.delta": Text,
    "response.refusal.delta": Refusal,
    "response.function_call_arguments.delta": ToolCall,
    "response.reasoning_summary_text.delta": Reasoning,
    "response.reasoning_text.delta": Reasoning,
}
"""The events with more of a block, and what that block is."""


class Reader:
    """Reads one stream. Some servers leave out events: what did not come in deltas is read when its
    item is done, and an answer without items from the last event."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._block: Block | None = None
        self._has_text = False
        self._opened = False
        """Whether a block of the item has begun."""
        self._items = 0
        self._calls = False

    def read(self, data: bytes) -> Iterable[Event]:
        """The neutral events of one event; events that repeat what came before are passed over."""
        if self._ended or data.strip() == b"[DONE]":
            return ()
        event = read_shape(STREAM_EVENT, data)
        kind = event.type or ""
        if (block_type := _DELTAS.get(kind)) is not None:
            return self._delta(read_shape(TEXT_DELTA, data), block_type)
        if kind == "error" or (not kind and event.error != NULL):
            raise error_inside(msgspec.json.decode(data))
        reader = _READERS.get(kind)
        return () if reader is None else reader(self, data)

    def end(self) -> Iterable[Event]:
        """Nothing: the End came with the vendor's last event. Raises BrokenAnswer without it."""
        if not self._ended:
            raise BrokenAnswer("the upstream's answer ended without its last event")
        return ()

    def _start(self, data: bytes) -> Iterable[Event]:
        head = None if self._started else read_shape(HEAD_EVENT, data).response
        if head is None:
            return ()
        self._started = True
        return (read_start(head),)

    def _item_added(self, data: bytes) -> Iterable[Event]:
        self._opened = False
        raw = read_shape(ITEM_EVENT, data).item
        item = read_shape(ITEM_OR_NONE, raw, _ITEM)
        kind = None if item is None else item.type
        if kind == FUNCTION_CALL:
            return self._open(read_call(read_shape(CALL, raw, _ITEM), raw, _ITEM))
        if kind == "reasoning":
            return self._open(Reasoning(id=read_shape(ITEM_ID, raw, _ITEM).id or ""))
        return ()

    def _part_added(self, data: bytes) -> Iterable[Event]:
        part = read_shape(ITEM_OR_NONE, read_shape(PART_EVENT, data).part, _PART)
        kind = "" if part is None else part.type
        if kind in ("output_text", "refusal"):
            return self._open(Refusal() if kind == "refusal" else Text())
        return ()

    def _open(self, block: Block) -> tuple[Event]:
        self._block, self._has_text, self._opened = block, False, True
        return (Open(block),)

    def _delta(self, event: TextDelta, block_type: type[Block]) -> Iterable[Event]:
        events: list[Event] = []
        if self._block is None and block_type in (Text, Refusal):
            events += self._open(block_type())
        if not isinstance(self._block, block_type):
            raise BrokenAnswer("the upstream's answer has text outside of its item")
        if event.delta:
            self._has_text = True
            events.append(Delta(event.delta))
        if event.logprobs:
            events.append(Tokens(read_logprobs(event.logprobs)))
        return events

    def _summary_added(self, data: bytes) -> Iterable[Event]:
        is_open = isinstance(self._block, Reasoning)
        if is_open and (read_shape(SUMMARY_EVENT, data).summary_index or 0) > 0:
            return (Delta("\n\n"),)
        return ()

    def _annotation(self, data: bytes) -> Iterable[Event]:
        annotation = read_shape(ANNOTATION_EVENT, data).annotation
        if annotation is None or annotation.type != "url_citation":
            return ()
        return (Cite(read_citation(annotation)),) if isinstance(self._block, Text) else ()

    def _part_done(self, data: bytes) -> Iterable[Event]:
        if not isinstance(self._block, Text | Refusal):
            return ()
        text, raw = None, read_shape(PART_EVENT, data).part
        if isinstance(self._block, Text):
            if (part := read_shape(TEXT_PART, raw, _PART)) is not None:
                text = part.text
        elif (refusal := read_shape(REFUSAL_PART, raw, _PART)) is not None:
            text = refusal.refusal
        return [*self._missing(text or ""), *self._close()]

    def _item_done(self, data: bytes) -> Iterable[Event]:
        raw = read_shape(ITEM_EVENT, data).item
        item = read_shape(ITEM_OR_NONE, raw, _ITEM)
        if item is None:
            return ()
        self._items += 1
        self._calls = self._calls or item.type == FUNCTION_CALL
        opened, self._opened = self._opened, False
        return self._open_item_done(raw) if opened else read_item(item.type or "", raw, _ITEM)

    def _open_item_done(self, raw: Raw) -> Iterable[Event]:
        if isinstance(self._block, Reasoning):
            item = read_shape(THOUGHTS, raw, _ITEM)
            signature = read_signature(item.encrypted_content or "", item.id or "")
            signed = () if signature is None else (Sign(signature),)
            return [*self._missing(read_thoughts(item)), *signed, *self._close()]
        if isinstance(self._block, ToolCall):
            arguments = read_shape(ARGUMENTS, raw, _ITEM).arguments
            return [*self._missing(arguments or ""), *self._close()]
        return () if self._block is None else self._close()

    def _missing(self, text: str) -> Iterable[Event]:
        """The text of the open block, if it did not come in deltas."""
        return (Delta(text),) if text and not self._has_text else ()

    def _close(self) -> tuple[Event]:
        self._block = None
        return (Close(),)

    def _end(self, data: bytes) -> Iterator[Event]:
        response = read_shape(END_EVENT, data).response
        if response is None:
            raise WrongType("response", "an object")
        if self._block is not None:
            yield from self._close()
        elif not self._items and not self._opened:
            for kind, raw, place in read_items(response):
                self._calls = self._calls or kind == FUNCTION_CALL
                yield from read_item(kind, raw, place)
        end = read_end(response, self._calls)
        self._ended = True
        yield end


_ITEM, _PART = "item", "part"
_READERS: dict[str, Callable[[Reader, bytes], Iterable[Event]]] = {
    "response.created": Reader._start,
    "response.queued": Reader._start,
    "response.in_progress": Reader._start,
    "response.output_item.added": Reader._item_added,
    "response.content_part.added": Reader._part_added,
    "response.reasoning_summary_part.added": Reader._summary_added,
    "response.output_text.annotation.added": Reader._annotation,
    "response.content_part.done": Reader._part_done,
    "response.output_item.done": Reader._item_done,
    "response.completed": Reader._end,
    "response.incomplete": Reader._end,
    "response.failed": Reader._end,
}
"""The methods that read the other events."""
