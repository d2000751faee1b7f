"""The events of one item of a responses stream -> neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
    uncarried,
)
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_answer_fields import read_citation, read_logprobs
from engine.translations.responses.answer_fields import read_citations, read_signature
from engine.translations.responses.answer_reader import (
    FUNCTION_CALL,
    NULL,
    PARTS,
    item_kind,
    read_call,
    read_item,
    read_thoughts,
)
from engine.translations.responses.answer_shapes import (
    ANNOTATION_EVENT,
    ANNOTATIONS,
    ARGUMENTS,
    CALL,
    ITEM_EVENT,
    ITEM_ID,
    ITEM_OR_NONE,
    PART_EVENT,
    REFUSAL_PART,
    SUMMARY_EVENT,
    TEXT_PART,
    THOUGHTS,
    TextDelta,
)

_ITEM, _PART = "item", "part"


class OpenItem:
    """Reads the events of one item. Some servers leave out events: what did not come in deltas is
    read when the item is done. `waiting` are neutral events that wait for the item before."""

    kind = ""
    is_done = False
    opened = False
    """Whether a block has begun."""

    _block: Block | None = None
    _has_text = False
    _cited = 0

    def __init__(self) -> None:
        self.waiting: list[Event] = []

    def added(self, data: bytes) -> Iterable[Event]:
        """The item begins."""
        raw = read_shape(ITEM_EVENT, data).item
        kind = self.kind = "" if raw == NULL else item_kind(raw, _ITEM)
        if kind == FUNCTION_CALL:
            return self._open(read_call(read_shape(CALL, raw, _ITEM), raw, _ITEM))
        if kind == "reasoning":
            return self._open(Reasoning(id=read_shape(ITEM_ID, raw, _ITEM).id or ""))
        return ()

    def part_added(self, data: bytes) -> Iterable[Event]:
        """A part of the item begins."""
        part = read_shape(ITEM_OR_NONE, read_shape(PART_EVENT, data).part, _PART)
        kind = "" if part is None else part.type
        if kind in ("output_text", "refusal"):
            self.kind = self.kind or "message"
            return self._open(Refusal() if kind == "refusal" else Text())
        return ()

    def _open(self, block: Block) -> tuple[Event]:
        self._block, self._has_text, self.opened = block, False, True
        self._cited = 0
        return (Open(block),)

    def delta(self, event: TextDelta, block_type: type[Block]) -> Iterable[Event]:
        """More of a block of a type."""
        events: list[Event] = []
        if self._block is None and block_type in (Text, Refusal):
            self.kind = self.kind or "message"
            events += self._open(block_type())
        if not isinstance(self._block, block_type):
            raise BrokenAnswer("the upstream's answer has text outside of its item")
        if event.delta:
            self._has_text = True
            events.append(Delta(event.delta))
        if event.logprobs:
            events.append(Tokens(read_logprobs(event.logprobs)))
        return events

    def summary_added(self, data: bytes) -> Iterable[Event]:
        """A part of a summary begins: a paragraph."""
        is_open = isinstance(self._block, Reasoning)
        if is_open and (read_shape(SUMMARY_EVENT, data).summary_index or 0) > 0:
            return (Delta("\n\n"),)
        return ()

    def annotation(self, data: bytes) -> Iterable[Event]:
        """A mark on the open text."""
        annotation = read_shape(ANNOTATION_EVENT, data).annotation
        if annotation is None or annotation.type != "url_citation":
            return ()
        if not isinstance(self._block, Text):
            return ()
        self._cited += 1
        return (Cite(read_citation(annotation)),)

    def part_done(self, data: bytes) -> Iterable[Event]:
        """A part of the item is complete. Raises BrokenAnswer for one of a kind not known here."""
        raw = read_shape(PART_EVENT, data).part
        if not isinstance(self._block, Text | Refusal):
            part = read_shape(ITEM_OR_NONE, raw, _PART)
            if part is not None and part.type not in PARTS:
                raise uncarried(part.type or "part")
            return ()
        text, cites = None, list[Event]()
        if isinstance(self._block, Text):
            if (part := read_shape(TEXT_PART, raw, _PART)) is not None:
                text, cites = part.text, self._missing_citations(part.annotations)
        elif (refusal := read_shape(REFUSAL_PART, raw, _PART)) is not None:
            text = refusal.refusal
        return [*self._missing(text or ""), *cites, *self._close()]

    def _missing_citations(self, annotations: Raw) -> list[Event]:
        """The citations of the open text that did not come in events of their own."""
        if bytes(annotations)[:1] != b"[":
            return []
        citations = read_citations(read_shape(ANNOTATIONS, annotations, f"{_PART}.annotations"))
        return [Cite(each) for each in citations[self._cited :]]

    def done(self, data: bytes) -> Iterable[Event]:
        """The item is complete."""
        raw = read_shape(ITEM_EVENT, data).item
        if raw == NULL:
            return ()
        self.is_done = True
        self.kind = self.kind or item_kind(raw, _ITEM)
        return self._rest(raw) if self.opened else read_item(self.kind, raw, _ITEM)

    def _rest(self, raw: Raw) -> Iterable[Event]:
        if isinstance(self._block, Reasoning):
            item = read_shape(THOUGHTS, raw, _ITEM)
            signature = read_signature(item.encrypted_content or "", item.id or "")
            signed = () if signature is None else (Sign(signature),)
            return [*self._missing(read_thoughts(item)), *signed, *self._close()]
        if isinstance(self._block, ToolCall):
            arguments = read_shape(ARGUMENTS, raw, _ITEM).arguments
            return [*self._missing(arguments or ""), *self._close()]
        return self.end()

    def end(self) -> Iterable[Event]:
        """The end of an item that is not done."""
        return () if self._block is None else self._close()

    def _missing(self, text: str) -> Iterable[Event]:
        """The text of the open block, if it did not come in deltas."""
        return (Delta(text),) if text and not self._has_text else ()

    def _close(self) -> tuple[Event]:
        self._block = None
        return (Close(),)


ITEM_READERS: dict[str, Callable[[OpenItem, bytes], Iterable[Event]]] = {
    "response.output_item.added": OpenItem.added,
    "response.content_part.added": OpenItem.part_added,
    "response.reasoning_summary_part.added": OpenItem.summary_added,
    "response.output_text.annotation.added": OpenItem.annotation,
    "response.content_part.done": OpenItem.part_done,
    "response.output_item.done": OpenItem.done,
}
"""The methods that read the events of items beside the deltas."""

LATER = (
    "response.reasoning_summary_part.added",
    "response.output_text.annotation.added",
    "response.content_part.done",
)
"""Those that no item begins with."""
