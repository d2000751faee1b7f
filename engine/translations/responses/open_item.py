"""The events of one item of a responses stream -> neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Raw

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import WRAPPER, check_buffer
from engine.translations.neutral.json_members import NULL
from engine.translations.neutral.open_parts import Part
from engine.translations.responses import answer_fields as fields
from engine.translations.responses import answer_reader
from engine.translations.vendors.openai_content import read_citation, read_logprobs

_ITEM, _PART = "item", "part"


class OpenItem(Part):
    """Reads the events of one item. Some servers leave out events: what did not come in deltas is
    read when its part or the item is done. A call without an id gets it from `name`."""

    kind = ""
    opened = False
    _block: neutral.Block | None = None
    _has_text = _had_text = False
    """Whether the open block, and the part of a summary before, has had any."""

    _beginning = ""
    """The arguments or text that a call or part begins with: they count unless others follow."""

    _is_held = False
    """Whether it is a call that begins with the end of the item: without a name, or a wrapper."""

    _cited = _parts = _size = 0

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._pieces: list[str] = []

    def added(self, data: bytes) -> Iterable[events.Event]:
        raw = fields.DETAIL_EVENT.read(data).item
        kind = self.kind = "" if raw == NULL else answer_reader.item_kind(raw, _ITEM)
        if kind == answer_reader.FUNCTION_CALL:
            call = fields.CALL.read(raw, _ITEM)
            self._beginning = call.arguments or ""
            self._is_held = not call.name or call.name == WRAPPER
            if self._is_held:
                return ()
            return self._open(answer_reader.read_call(call, self._name, _ITEM))
        return self._open(neutral.Reasoning()) if kind == "reasoning" else ()

    def part_added(self, data: bytes) -> Iterable[events.Event]:
        raw = fields.DETAIL_EVENT.read(data).part
        part, kind = fields.DONE_PART.read(raw, _PART), fields.KIND.read(raw, _PART)
        if part is not None and kind is not None and kind.type in ("output_text", "refusal"):
            self.kind, self._beginning = self.kind or "message", part.text or part.refusal or ""
            return self._open(neutral.Refusal() if kind.type == "refusal" else neutral.Text())
        return ()

    def _open(self, block: neutral.Block) -> tuple[events.Event]:
        self._block, self.opened = block, True
        self._parts += 1
        self._has_text, self._had_text, self._cited = False, False, 0
        return (events.Open(block),)

    def delta(
        self, event: fields.TextDelta, block_type: type[neutral.Block]
    ) -> Iterable[events.Event]:
        output: list[events.Event] = []
        if not isinstance(self._block, block_type):
            if self._is_held and block_type is neutral.ToolCall:
                self._pieces.append(event.delta or "")
                self._size += len(event.delta or "")
                check_buffer(self._size)
                return output
            if self._block is not None or block_type not in (neutral.Text, neutral.Refusal):
                raise events.BrokenAnswer("the upstream's answer has text outside of its item")
            self.kind = self.kind or "message"
            output += self._open(block_type())
        if event.delta:
            self._has_text = True
            output.append(events.Delta(event.delta))
        if event.logprobs:
            output.append(events.Tokens(read_logprobs(event.logprobs)))
        return output

    def summary_added(self, data: bytes) -> Iterable[events.Event]:
        """A part of a summary begins: a paragraph."""
        is_open = isinstance(self._block, neutral.Reasoning)
        if is_open and (fields.DETAIL_EVENT.read(data).summary_index or 0) > 0:
            self._had_text, self._has_text = self._has_text or self._had_text, False
            return (events.Delta("\n\n"),)
        return ()

    def text_done(self, data: bytes) -> Iterable[events.Event]:
        """The text of a part, or the arguments of a call, are complete."""
        done = fields.DONE_PART.read(data) or fields.DonePart()
        text, begun = done.text or done.refusal or done.arguments or "", tuple[events.Event, ...]()
        if self._block is None:
            if self.opened or done.arguments or not text:
                return ()  # its part is done
            begun = self._open(neutral.Refusal() if done.refusal else neutral.Text())
        missing = self._missing(text)
        self._has_text = self._has_text or bool(missing)
        return [*begun, *missing]

    def annotation(self, data: bytes) -> Iterable[events.Event]:
        annotation = fields.DETAIL_EVENT.read(data).annotation
        if annotation is None or annotation.type != "url_citation":
            return ()
        if not isinstance(self._block, neutral.Text):
            return ()
        self._cited += 1
        return (events.Cite(read_citation(annotation)),)

    def part_done(self, data: bytes) -> Iterable[events.Event]:
        """A part of the item is complete. Raises BrokenAnswer for one of a kind not known here."""
        raw = fields.DETAIL_EVENT.read(data).part
        if not isinstance(self._block, neutral.Text | neutral.Refusal):
            kind = fields.KIND.read(raw, _PART)
            if kind is not None and kind.type not in answer_reader.PARTS:
                raise events.uncarried(kind.type or "part")
            return ()
        part = fields.DONE_PART.read(raw, _PART) or fields.DonePart()
        if isinstance(self._block, neutral.Refusal):
            return [*self._missing(part.refusal or self._beginning), *self._close()]
        cites = self._missing_citations(part.annotations)
        return [*self._missing(part.text or self._beginning), *cites, *self._close()]

    def _missing_citations(self, annotations: Raw) -> list[events.Event]:
        """The citations of the open text that did not come in events of their own."""
        if bytes(annotations)[:1] != b"[":
            return []
        citations = fields.read_citations(
            fields.ANNOTATIONS.read(annotations, f"{_PART}.annotations")
        )
        return [events.Cite(each) for each in citations[self._cited :]]

    def done(self, data: bytes) -> Iterable[events.Event]:
        raw = fields.DETAIL_EVENT.read(data).item
        if raw == NULL:
            return ()
        self.is_done = True
        self.kind = self.kind or answer_reader.item_kind(raw, _ITEM)
        return self.rest(raw)

    def rest(self, raw: Raw) -> Iterable[events.Event]:
        """What has not come of the whole item."""
        if not self.opened:
            output = answer_reader.read_item(self.kind, raw, _ITEM, self._name)
            if self._pieces and not any(isinstance(each, events.Delta) for each in output):
                output.insert(1, events.Delta("".join(self._pieces)))
            self._is_held = False
            return output
        if answer_reader.item_kind(raw, _ITEM) != self.kind:
            return self.end()
        if isinstance(self._block, neutral.Reasoning):
            item = fields.THOUGHTS.read(raw, _ITEM)
            signature = fields.read_signature(item.encrypted_content or "", item.id or "")
            signed = () if signature is None else (events.Sign(signature),)
            text = "" if self._had_text else fields.thoughts(item.summary, item.content)
            return [*self._missing(text), *signed, *self._close()]
        if isinstance(self._block, neutral.ToolCall):
            self._beginning = fields.CALL.read(raw, _ITEM).arguments or self._beginning
        if isinstance(self._block, neutral.Text | neutral.Refusal) and not self._has_text:
            output = answer_reader.read_item(self.kind, raw, _ITEM, self._name)
            opens = [at for at, event in enumerate(output) if isinstance(event, events.Open)]
            if len(opens) >= self._parts:
                self._block = None
                return output[opens[self._parts - 1] + 1 :]
        return self.end()

    def end(self) -> Iterable[events.Event]:
        """The end of an item that is not done. Raises BrokenAnswer for a held call."""
        if self._is_held:
            raise events.BrokenAnswer(
                "the upstream's answer has a tool call without a name or an end"
            )
        return () if self._block is None else [*self._missing(self._beginning), *self._close()]

    def _missing(self, text: str) -> tuple[events.Event, ...]:
        """The text of the open block, if it did not come in deltas."""
        return (events.Delta(text),) if text and not self._has_text else ()

    def _close(self) -> tuple[events.Event]:
        self._block = None
        return (events.Close(),)


ITEM_READERS: dict[str, Callable[[OpenItem, bytes], Iterable[events.Event]]] = {
    "response.output_item.added": OpenItem.added,
    "response.content_part.added": OpenItem.part_added,
    "response.reasoning_summary_part.added": OpenItem.summary_added,
    "response.output_text.annotation.added": OpenItem.annotation,
    **dict.fromkeys(
        (
            *("response.output_text.done", "response.refusal.done", "response.reasoning_text.done"),
            *("response.function_call_arguments.done", "response.reasoning_summary_text.done"),
        ),
        OpenItem.text_done,
    ),
    "response.content_part.done": OpenItem.part_done,
    "response.output_item.done": OpenItem.done,
}

LATER = (
    "response.reasoning_summary_part.added",
    "response.output_text.annotation.added",
    "response.content_part.done",
)
"""Those that no item begins with."""
