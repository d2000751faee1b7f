"""The blocks of an answer, one after another -> neutral events."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.messages.answer_fields import read_citation, read_signature
from engine.translations.messages.content_reader import read_arguments
from engine.translations.messages.foreign_block import ForeignBlock
from engine.translations.neutral.content import Block, Reasoning, Signature, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Cite, Close, Delta, Event, Open, Sign
from engine.translations.neutral.members import Members

_DELTAS: dict[str, tuple[str, type[Block]]] = {
    "text_delta": ("text", Text),
    "thinking_delta": ("thinking", Reasoning),
    "input_json_delta": ("partial_json", ToolCall),
    "signature_delta": ("signature", Reasoning),
    "citations_delta": ("citation", Text),
}
"""Kinds of deltas: the member with their content, and the block that they belong to."""


class BlockReader:
    """Reads one block after another. A text begins with its first content: an empty one is none.

    `called`: a block was a call of the caller's tools.
    """

    def __init__(self) -> None:
        self.called = False
        self._block: Block | ForeignBlock | None = None
        self._is_written = False
        self._input = ""
        """Arguments that came with the beginning of a call: they count unless deltas follow."""
        self._signature: Signature | None = None

    @property
    def is_open(self) -> bool:
        """Whether a block has begun and not ended."""
        return self._block is not None

    def open(self, members: Members, raw: Raw) -> Iterator[Event]:
        """A block begins with the contents that it has; in one piece these are all."""
        kind = members.text("type")
        text, citations = "", list[Members]()
        if kind == "text":
            self._block, text = Text(), members.text("text") or ""
            citations = list(members.objects("citations"))
        elif kind == "thinking":
            self._block, text = Reasoning(), members.text("thinking") or ""
            self._signature = read_signature(members.text("signature") or "")
        elif kind == "redacted_thinking":
            self._block = Reasoning()
            self._signature = read_signature(members.text("data") or "", redacted=True)
        elif kind == "tool_use":
            self._block, self._input = _call(members), read_arguments(members)
            self.called = True
        elif kind is not None:
            self._block = ForeignBlock(kind, raw)
        else:
            raise members.wrong("type", "the type of a block")
        if isinstance(self._block, Reasoning | ToolCall) or text:
            yield from self._begin()
        if text:
            yield Delta(text)
        for citation in citations:
            yield from self._cite(citation)

    def delta(self, members: Members, raw: Raw) -> Iterator[Event]:
        """More of the open block."""
        if isinstance(self._block, ForeignBlock):
            self._block.add(raw)
            return
        kind = members.text("type") or ""
        member, block = _DELTAS.get(kind, ("", Block))
        if not isinstance(self._block, block):
            raise BrokenAnswer(f"the upstream's answer has a {kind} in a block of another kind")
        if member == "citation":
            if (citation := members.members(member)) is not None:
                yield from self._cite(citation)
        elif member == "signature":
            self._signature = read_signature(members.text(member) or "")
        elif member and (text := members.text(member)):
            self._input = ""
            yield from self._begin()
            yield Delta(text)

    def close(self) -> Iterator[Event]:
        """The open block is complete."""
        block = self._block
        if isinstance(block, ForeignBlock):
            yield Open(block.block())
            yield Close()
        elif self._is_written:
            if self._input:
                yield Delta(self._input)
            if self._signature is not None:
                yield Sign(self._signature)
            yield Close()
        self._block = self._signature = None
        self._is_written, self._input = False, ""

    def _begin(self) -> Iterator[Event]:
        if not self._is_written:
            assert isinstance(self._block, Block)
            self._is_written = True
            yield Open(self._block)

    def _cite(self, members: Members) -> Iterator[Event]:
        citation = read_citation(members)
        if citation is not None:
            yield from self._begin()
            yield Cite(citation)


def _call(members: Members) -> ToolCall:
    call_id, name = members.text("id"), members.text("name")
    if not call_id or not name:
        raise members.wrong("name" if call_id else "id", "a string that is not empty")
    return ToolCall(id=call_id, name=name)
