"""The events of a responses stream -> neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from engine.translations.neutral.members import Members
from engine.translations.openai_answer_fields import error_inside, read_citation, read_logprobs
from engine.translations.responses.answer_fields import read_signature, read_thoughts
from engine.translations.responses.answer_reader import (
    is_call,
    read_call,
    read_end,
    read_item,
    read_items,
    read_start,
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
        self._readers: dict[str, Callable[[Members], Iterator[Event]]] = {
            "response.created": self._start,
            "response.queued": self._start,
            "response.in_progress": self._start,
            "response.output_item.added": self._item_added,
            "response.content_part.added": self._part_added,
            "response.reasoning_summary_part.added": self._summary_added,
            "response.output_text.annotation.added": self._annotation,
            "response.content_part.done": self._part_done,
            "response.output_item.done": self._item_done,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._end,
        }

    def read(self, data: bytes) -> Iterator[Event]:
        """The neutral events of one event; events that repeat what came before are passed over."""
        if self._ended or data.strip() == b"[DONE]":
            return
        event = Members(data)
        kind = event.text("type") or ""
        if kind == "error" or (not kind and "error" in event):
            raise error_inside(msgspec.json.decode(data))
        if (block_type := _DELTAS.get(kind)) is not None:
            yield from self._delta(event, block_type)
        elif (reader := self._readers.get(kind)) is not None:
            yield from reader(event)

    def end(self) -> Iterator[Event]:
        """Nothing: the End came with the vendor's last event. Raises BrokenAnswer without it."""
        if not self._ended:
            raise BrokenAnswer("the upstream's answer ended without its last event")
        return iter(())

    def _start(self, event: Members) -> Iterator[Event]:
        response = event.members("response")
        if not self._started and response is not None:
            self._started = True
            yield read_start(response)

    def _item_added(self, event: Members) -> Iterator[Event]:
        self._opened = False
        item = event.members("item")
        kind = item.text("type") if item is not None else ""
        if item is not None and kind == "function_call":
            yield from self._open(read_call(item))
        elif item is not None and kind == "reasoning":
            yield from self._open(Reasoning(id=item.text("id") or ""))

    def _part_added(self, event: Members) -> Iterator[Event]:
        part = event.members("part")
        kind = part.text("type") if part is not None else ""
        if kind in ("output_text", "refusal"):
            yield from self._open(Refusal() if kind == "refusal" else Text())

    def _open(self, block: Block) -> Iterator[Event]:
        self._block, self._has_text, self._opened = block, False, True
        yield Open(block)

    def _delta(self, event: Members, block_type: type[Block]) -> Iterator[Event]:
        if self._block is None and block_type in (Text, Refusal):
            yield from self._open(block_type())
        if not isinstance(self._block, block_type):
            raise BrokenAnswer("the upstream's answer has text outside of its item")
        if text := event.text("delta"):
            self._has_text = True
            yield Delta(text)
        if tokens := read_logprobs(event, "logprobs"):
            yield Tokens(tokens)

    def _summary_added(self, event: Members) -> Iterator[Event]:
        if isinstance(self._block, Reasoning) and (event.integer("summary_index") or 0) > 0:
            yield Delta("\n\n")

    def _annotation(self, event: Members) -> Iterator[Event]:
        annotation = event.members("annotation")
        if annotation is None or annotation.text("type") != "url_citation":
            return
        if isinstance(self._block, Text):
            yield Cite(read_citation(annotation))

    def _part_done(self, event: Members) -> Iterator[Event]:
        if isinstance(self._block, Text | Refusal):
            part = event.members("part")
            name = "text" if isinstance(self._block, Text) else "refusal"
            yield from self._missing("" if part is None else part.text(name) or "")
            yield from self._close()

    def _item_done(self, event: Members) -> Iterator[Event]:
        raw = Raw(event.peek("item"))
        item = event.members("item")
        if item is None:
            return
        self._items += 1
        self._calls = self._calls or is_call(item)
        block = self._block
        if not self._opened:
            yield from read_item(raw, item)
        elif isinstance(block, Reasoning):
            yield from self._missing(read_thoughts(item))
            signature = read_signature(item, item.text("id") or "")
            if signature is not None:
                yield Sign(signature)
            yield from self._close()
        elif block is not None:
            if isinstance(block, ToolCall):
                yield from self._missing(item.text("arguments") or "")
            yield from self._close()
        self._opened = False

    def _missing(self, text: str) -> Iterator[Event]:
        """The text of the open block, if it did not come in deltas."""
        if text and not self._has_text:
            yield Delta(text)

    def _close(self) -> Iterator[Event]:
        self._block = None
        yield Close()

    def _end(self, event: Members) -> Iterator[Event]:
        response = event.members("response")
        if response is None:
            raise event.wrong("response", "an object")
        if self._block is not None:
            yield from self._close()
        elif not self._items and not self._opened:
            for raw, item in read_items(response):
                self._calls = self._calls or is_call(item)
                yield from read_item(raw, item)
        end = read_end(response, self._calls)
        self._ended = True
        yield end
