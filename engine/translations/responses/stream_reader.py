"""The events of a responses stream -> neutral events.

Each event names the item that it belongs to, and several items may be open at once. Blocks may not,
so what comes of an item while the one before it is not done waits for that. Some servers leave out
the events before the first item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from engine.dialects.interface.error_forms import FAILED
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_end_marker
from engine.translations.neutral.calls import name_of_answer
from engine.translations.neutral.json_members import NOT_OF_TYPE, WrongType
from engine.translations.neutral.open_parts import OpenParts
from engine.translations.neutral.refusals import is_error
from engine.translations.responses import answer_fields as fields
from engine.translations.responses import answer_reader
from engine.translations.responses.open_item import ITEM_READERS, LATER, OpenItem
from engine.translations.vendors.openai_content import ERRORS

_decode_event, _decode_delta = fields.STREAM_EVENT.decode, fields.TEXT_DELTA.decode
_MAX_IDS, _MAX_ID = 10_000, 200
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_DELTAS: dict[str, type[neutral.Block]] = {
    "response.output_text.delta": neutral.Text,
    "response.refusal.delta": neutral.Refusal,
    "response.function_call_arguments.delta": neutral.ToolCall,
    "response.reasoning_summary_text.delta": neutral.Reasoning,
    "response.reasoning_text.delta": neutral.Reasoning,
}


class Reader:
    """Reads one stream. Calls and messages that did not come are read from the last event."""

    def __init__(self) -> None:
        self._started = self._ended = False
        kinds: Counter[str] = Counter()
        self._items = OpenParts(OpenItem, lambda item: kinds.update((item.kind,)))
        self._kinds = kinds
        self._indexes: dict[str, int] = {}
        """Those of the items that were added, by their ids."""
        self._added = 0
        self._is_shared = False
        """Whether one index was that of several items."""

    def read(self, data: bytes) -> Iterable[events.Event]:
        """The neutral events of one event; events that repeat what came before are passed over."""
        if self._ended:
            return ()
        try:
            event = _decode_event(data)
        except NOT_OF_TYPE:
            if is_end_marker(data):
                return ()
            event = fields.STREAM_EVENT.read(data)
        kind, items = event.type or "", self._items
        if (block_type := _DELTAS.get(kind)) is not None:
            try:
                delta = _decode_delta(data)
            except NOT_OF_TYPE:
                delta = fields.TEXT_DELTA.read(data)
            current = None if self._is_shared else items.current
            if event.output_index == items.index and current is not None:  # nearly always
                return current.delta(delta, block_type)
            item = items.at(self._index(event, data))
            return self._behind_start(items.in_order(item, item.delta(delta, block_type)), data)
        if (read := ITEM_READERS.get(kind)) is not None:
            index, is_new = self._index(event, data), kind == _ADDED
            is_open = index in items or (index is None and items.current is not None)
            if not (is_open or is_new) and (kind in LATER or index != event.output_index):
                return ()  # its item is done
            is_unordered = event.output_index is None or self._is_shared
            ended = self._end_text() if is_new and is_unordered else ()
            item = items.at(index)
            return self._behind_start([*ended, *items.in_order(item, read(item, data))], data)
        if kind in ("error", "response.error"):
            raise ERRORS.inside(msgspec.json.decode(data))
        if not kind.startswith("response."):
            ERRORS.refuse(data)
        reader = _READERS.get(kind)
        return () if reader is None else reader(self, data)

    def _index(self, event: fields.StreamEvent, data: bytes) -> int | None:
        """The index of an event's item. Where events have none (llama.cpp), or several items have
        one (LiteLLM, https://github.com/BerriAI/litellm/pull/36375), the item's id says it, and one
        that is added has the next. None for the open item."""
        index, ids = None if self._is_shared else event.output_index, [event.item_id]
        if event.type == _ADDED or (event.type == _DONE and index is None):
            raw = fields.DETAIL_EVENT.read(data).item
            item = fields.KIND.read(raw, "item") or fields.Kind()
            ids = [item.id, item.call_id]
        if event.type == _ADDED:
            if index is not None and index < self._added and ids[0] not in self._indexes:
                self._is_shared = index in self._indexes.values()
                index = None if self._is_shared else index
            index = self._added if index is None else index
            self._added = index + 1
            if len(self._indexes) < _MAX_IDS:
                self._indexes.update((each[:_MAX_ID], index) for each in ids if each)
        if index is not None:
            return index
        indexes = (self._indexes.get(each[:_MAX_ID]) for each in ids if each)
        return next((each for each in indexes if each is not None), None)

    def _end_text(self) -> Iterable[events.Event]:
        """The end of an open item that another one follows: only calls go on behind that."""
        item = self._items.current
        if item is None or item.kind == answer_reader.FUNCTION_CALL:
            return ()
        item.is_done = True
        return self._items.in_order(item, item.end())

    def end(self) -> Iterable[events.Event]:
        """Nothing: the End came with the vendor's last event. Raises BrokenAnswer without it."""
        if not self._ended:
            raise events.BrokenAnswer("the upstream's answer ended without its last event")
        return ()

    def _start(self, data: bytes) -> Iterable[events.Event]:
        if self._started:
            return ()
        self._started, head = True, fields.HEAD_EVENT.read(data).response or fields.Head()
        self._items.name = name_of_answer(head.id, data)
        return (answer_reader.read_start(head),)

    def _behind_start(self, rest: Iterable[events.Event], data: bytes) -> Iterable[events.Event]:
        return rest if self._started else (*self._start(data), *rest)

    def _end(self, data: bytes) -> Iterator[events.Event]:
        if (response := fields.END_EVENT.read(data).response) is None:
            raise WrongType("response", "an object")
        if response.status == FAILED and not is_error(response.error):
            raise ERRORS.inside(msgspec.json.decode(data))  # the error stands beside the response
        output = response.output or ()
        yield from self._start(data)

        def last(index: int, item: OpenItem) -> Iterable[events.Event]:
            return item.rest(output[index]) if index < len(output) else item.end()

        yield from self._items.end(last)
        yield from self._missing(response)
        end = answer_reader.read_end(response)
        self._ended = True
        yield end

    def _missing(self, response: fields.Response) -> Iterator[events.Event]:
        """The items of the last event that did not come: all if none came, else the calls behind
        those that came, and the messages if there was no text. Some servers stream texts alone."""
        came = +self._kinds
        calls = came[answer_reader.FUNCTION_CALL]
        for kind, raw, place in answer_reader.read_items(response):
            is_missing = not came or (kind == "message" and not came[kind])
            if kind == answer_reader.FUNCTION_CALL:
                calls -= 1
                is_missing = calls < 0
            if is_missing:
                yield from answer_reader.read_item(kind, raw, place, self._items.name)


_READERS: dict[str, Callable[[Reader, bytes], Iterable[events.Event]]] = {
    "response.created": Reader._start,
    "response.queued": Reader._start,
    "response.in_progress": Reader._start,
    "response.completed": Reader._end,
    "response.done": Reader._end,  # of the Realtime API; some servers end any stream so
    "response.incomplete": Reader._end,
    "response.failed": Reader._end,
}
