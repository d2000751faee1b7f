"""The events of a responses stream -> neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Raw

from engine.translations.neutral.content import Block, Reasoning, Refusal, Text
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
from engine.translations.responses.answer_reader import (
    call_of,
    error_of,
    read_end,
    read_item,
    read_start,
    read_tokens,
    signature_of,
)
from engine.translations.responses.item_reader import read_citation


class Reader:
    """Reads one stream. An item whose parts did not come as events is read when it is done."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._block: Block | None = None
        self._has_text = False
        self._read_in_events = False
        self._calls = False
        self._readers: dict[str, Callable[[Members], Iterator[Event]]] = {
            "response.created": self._start,
            "response.in_progress": self._start,
            "response.output_item.added": self._item_added,
            "response.content_part.added": self._part_added,
            "response.output_text.delta": self._delta,
            "response.refusal.delta": self._delta,
            "response.function_call_arguments.delta": self._delta,
            "response.reasoning_summary_text.delta": self._delta,
            "response.reasoning_text.delta": self._delta,
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
            raise error_of(event.members("error") if "error" in event else event)
        reader = self._readers.get(kind)
        if reader is not None:
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
        self._read_in_events = False
        item = event.members("item")
        kind = item.text("type") if item is not None else ""
        if item is not None and kind == "function_call":
            yield from self._open(call_of(item))
        elif item is not None and kind == "reasoning":
            yield from self._open(Reasoning(id=item.text("id") or ""))

    def _part_added(self, event: Members) -> Iterator[Event]:
        part = event.members("part")
        kind = part.text("type") if part is not None else ""
        if kind in ("output_text", "refusal"):
            yield from self._open(Refusal() if kind == "refusal" else Text())

    def _open(self, block: Block) -> Iterator[Event]:
        self._block, self._has_text, self._read_in_events = block, False, True
        yield Open(block)

    def _delta(self, event: Members) -> Iterator[Event]:
        if self._block is None:
            raise BrokenAnswer("the upstream's answer has text outside of an item")
        if text := event.text("delta"):
            self._has_text = True
            yield Delta(text)
        if tokens := read_tokens(event):
            yield Tokens(tokens)

    def _summary_added(self, event: Members) -> Iterator[Event]:
        if isinstance(self._block, Reasoning) and (event.integer("summary_index") or 0) > 0:
            yield Delta("\n\n")

    def _annotation(self, event: Members) -> Iterator[Event]:
        annotation = event.members("annotation")
        if annotation is not None and annotation.text("type") == "url_citation":
            yield Cite(read_citation(annotation))

    def _part_done(self, event: Members) -> Iterator[Event]:
        if isinstance(self._block, Text | Refusal):
            yield from self._close()

    def _item_done(self, event: Members) -> Iterator[Event]:
        raw = Raw(event.peek("item"))
        item = event.members("item")
        if item is None:
            return
        self._calls = self._calls or item.peek("type") == b'"function_call"'
        if not self._read_in_events:
            yield from read_item(raw, item)
        elif isinstance(self._block, Reasoning):
            if (signature := signature_of(item)) is not None:
                yield Sign(signature)
            yield from self._close()
        elif self._block is not None:
            if not self._has_text and (arguments := item.text("arguments")):
                yield Delta(arguments)
            yield from self._close()

    def _close(self) -> Iterator[Event]:
        self._block = None
        yield Close()

    def _end(self, event: Members) -> Iterator[Event]:
        response = event.members("response")
        if response is None:
            raise event.wrong("response", "an object")
        end = read_end(response, self._calls)
        if self._block is not None:
            yield from self._close()
        self._ended = True
        yield end
