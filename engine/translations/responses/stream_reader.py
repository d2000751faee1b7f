"""The events of a responses stream -> neutral events.

Each event names the item that it belongs to, and several items may be open at once. Blocks may not,
so what comes of an item while the one before it is not done waits for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Block, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Delta, Event
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_answer_fields import ERRORS
from engine.translations.responses.answer_reader import (
    FUNCTION_CALL,
    read_end,
    read_item,
    read_items,
    read_start,
)
from engine.translations.responses.answer_shapes import (
    END_EVENT,
    HEAD_EVENT,
    STREAM_EVENT,
    TEXT_DELTA,
    Response,
)
from engine.translations.responses.open_item import ITEM_READERS, LATER, OpenItem

_DELTAS: dict[str, type[Block]] = {
    "response.output_text.delta": Text,
    "response.refusal.delta": Refusal,
    "response.function_call_arguments.delta": ToolCall,
    "response.reasoning_summary_text.delta": Reasoning,
    "response.reasoning_text.delta": Reasoning,
}
"""The events with more of a block, and what that block is."""

_EVENT_SIZE = 100
"""What an event that waits counts beside its text."""


class Reader:
    """Reads one stream. Calls and messages that did not come are read from the last event."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._items: dict[int, OpenItem] = {}
        """The items that are not done, and those that wait, by their indexes."""
        self._current: OpenItem | None = None
        self._index = 0
        self._kinds: Counter[str] = Counter()
        """The numbers of the items that came."""
        self._size = 0

    def read(self, data: bytes) -> Iterable[Event]:
        """The neutral events of one event; events that repeat what came before are passed over."""
        if self._ended or data.strip() == b"[DONE]":
            return ()
        event = read_shape(STREAM_EVENT, data)
        kind = event.type or ""
        if (block_type := _DELTAS.get(kind)) is not None:
            delta = read_shape(TEXT_DELTA, data)
            if event.output_index == self._index and self._current is not None:  # nearly always
                return self._current.delta(delta, block_type)
            item = self._item(event.output_index)
            return self._in_order(item, item.delta(delta, block_type))
        if (read := ITEM_READERS.get(kind)) is not None:
            if kind in LATER and (event.output_index or 0) not in self._items:
                return ()  # its item is done
            item = self._item(event.output_index)
            return self._in_order(item, read(item, data))
        if kind == "error":
            raise ERRORS.inside(msgspec.json.decode(data))
        if not kind.startswith("response."):
            ERRORS.refuse(data)
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

    def _item(self, index: int | None) -> OpenItem:
        """The item at an index; the open one without an index."""
        if index is None and self._current is not None:
            return self._current
        index = index or 0
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = OpenItem()
            if self._current is None:
                self._current, self._index = item, index
        return item

    def _in_order(self, item: OpenItem, events: Iterable[Event]) -> Iterable[Event]:
        """The events of an item, if it is the first that is not done; else they wait."""
        if item is not self._current:
            for event in events:
                self._size += _EVENT_SIZE + (len(event.text) if isinstance(event, Delta) else 0)
                item.waiting.append(event)
            if self._size > LARGEST:
                raise BrokenAnswer(f"the upstream's answer has over {LARGEST} bytes to be kept")
            return ()
        return [*events, *self._next()] if item.is_done else events

    def _next(self) -> Iterator[Event]:
        """The events that waited for items which are done now."""
        for index, item in sorted(self._items.items()):
            self._current, self._index = item, index
            yield from item.waiting
            item.waiting = []
            if not item.is_done:
                return
            self._kinds[item.kind] += 1
            del self._items[index]
        self._current = None

    def _end(self, data: bytes) -> Iterator[Event]:
        response = read_shape(END_EVENT, data).response
        if response is None:
            raise WrongType("response", "an object")
        for item in self._items.values():
            if not item.is_done:
                item.waiting += item.end()
                item.is_done = True
        yield from self._next()
        yield from self._missing(response)
        end = read_end(response)
        self._ended = True
        yield end

    def _missing(self, response: Response) -> Iterator[Event]:
        """The items of the last event that did not come: all if none came, else the calls behind
        those that came, and the messages if there was no text. Some servers stream texts alone."""
        came = +self._kinds
        calls = came[FUNCTION_CALL]
        for kind, raw, place in read_items(response):
            is_missing = not came or (kind == "message" and not came[kind])
            if kind == FUNCTION_CALL:
                calls -= 1
                is_missing = calls < 0
            if is_missing:
                yield from read_item(kind, raw, place)


_READERS: dict[str, Callable[[Reader, bytes], Iterable[Event]]] = {
    "response.created": Reader._start,
    "response.queued": Reader._start,
    "response.in_progress": Reader._start,
    "response.completed": Reader._end,
    "response.incomplete": Reader._end,
    "response.failed": Reader._end,
}
"""The methods that read the events around the items."""
