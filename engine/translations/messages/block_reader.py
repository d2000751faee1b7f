"""One block of an answer -> neutral events."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from engine.translations.messages import answer_fields as fields
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import arguments_of, call_id
from engine.translations.neutral.json_members import NOT_OF_TYPE, NULL, WrongType
from engine.translations.neutral.open_parts import Part

_decode_delta = fields.DELTA.decode
_BLOCKS: dict[str, type[neutral.Block]] = {
    "text_delta": neutral.Text,
    "thinking_delta": neutral.Reasoning,
    "input_json_delta": neutral.ToolCall,
    "signature_delta": neutral.Reasoning,
    "citations_delta": neutral.Text,
}
"""Kinds of deltas, in the order of their members: the block that they belong to."""

_TEXTS = ("text_delta", "thinking_delta")
_VENDORS = ("server_tool_use", "mcp_tool_use")
_OMISSIBLE = (*_VENDORS, "container_upload", "compaction", "fallback", "mcp_tool_listing")


class BlockReader(Part):
    """Reads one block. A text begins with its first content: an empty one is none, and one whose
    beginning did not come begins so, too. A call without an id gets it from `name`."""

    _block: neutral.Block | None = None
    _is_written = _has_deltas = False
    _input = ""
    """Arguments that came with the beginning of a call: they count unless deltas follow."""

    _signature: neutral.Signature | None = None

    def open(self, raw: Raw, place: str) -> list[events.Event]:
        """The block begins with the contents that it has; in one piece these are all."""
        before, output = self._block, self._whole()
        self._renew(None)
        members = fields.KIND.read(raw, place)
        kind = members.type or ""
        opener = _OPENERS.get(kind)
        omissible = opener is None and (kind in _OMISSIBLE or kind.endswith("_tool_result"))
        if opener is None and not omissible:
            opener = _OPENERS.get(_kind_of(members))
        if opener is not None:
            opener(self, raw, place, output)
        elif not kind:
            raise WrongType(f"{place}.type", "the type of a block")
        else:
            self._block = neutral.Foreign(kind=kind, omissible=omissible)
            self._begin(output)
        if before is not None and {type(before), type(self._block)} != {
            neutral.Text,
            neutral.Reasoning,
        }:
            raise events.BrokenAnswer("the upstream's answer has a block out of order")
        return output

    def _open_text(self, raw: Raw, place: str, output: list[events.Event]) -> None:
        block = fields.TEXT_BLOCK.read(raw, place)
        self._block = neutral.Text()
        if block.text:
            self._add(block.text, output)
        for citation in block.citations or ():
            self._cite(citation, output)

    def _open_thinking(self, raw: Raw, place: str, output: list[events.Event]) -> None:
        block = fields.THINKING_BLOCK.read(raw, place)
        self._block = neutral.Reasoning()
        self._signature = fields.read_signature(block.signature or "")
        self._begin(output)
        if block.thinking:
            self._add(block.thinking, output)

    def _open_redacted(self, raw: Raw, place: str, output: list[events.Event]) -> None:
        data = fields.REDACTED_BLOCK.read(raw, place).data
        self._block = neutral.Reasoning()
        self._signature = fields.read_signature(data or "", redacted=True)
        self._begin(output)

    def _open_call(self, raw: Raw, place: str, output: list[events.Event]) -> None:
        call = fields.CALL_BLOCK.read(raw, place)
        if not call.name:
            raise WrongType(f"{place}.name", "a string that is not empty")
        self._block = neutral.ToolCall(id=call.id or call_id(self._name), name=call.name)
        self._input = arguments_of(call.input)
        self._begin(output)

    def delta(self, raw: Raw, place: str) -> list[events.Event]:
        output: list[events.Event] = []
        if isinstance(self._block, neutral.Foreign):
            return output
        try:
            delta = _decode_delta(raw)
        except NOT_OF_TYPE:
            delta = fields.DELTA.read(raw, place)
        kind = delta.type or ""
        if kind not in _BLOCKS:
            kind = _kind_of_delta(delta) or kind
        if kind in _TEXTS and not isinstance(self._block, neutral.ToolCall | _BLOCKS[kind]):
            output += self._whole()
            self._renew(_BLOCKS[kind]())
        if not isinstance(self._block, _BLOCKS.get(kind, neutral.Block)):
            raise events.BrokenAnswer(
                f"the upstream's answer has a {kind} in a block of another kind"
            )
        if kind == "text_delta":
            self._add(delta.text, output)
        elif kind == "input_json_delta":
            self._add(delta.partial_json, output)
        elif kind == "thinking_delta":
            self._add(delta.thinking, output)
        elif kind == "signature_delta":
            self._signature = fields.read_signature(delta.signature or "")
        elif kind == "citations_delta" and delta.citation is not None:
            self._cite(delta.citation, output)
        return output

    def end(self) -> list[events.Event]:
        self.is_done = True
        return self._whole()

    def _renew(self, block: neutral.Block | None) -> None:
        """Some servers have thoughts and text in one block, or under one index."""
        self._block, self._signature, self._input = block, None, ""
        self._is_written = self._has_deltas = False

    def _whole(self) -> list[events.Event]:
        output: list[events.Event] = []
        if self._is_written:
            if self._input:
                output.append(events.Delta(self._input))
            if self._signature is not None:
                output.append(events.Sign(self._signature))
            output.append(events.Close())
        return output

    def _add(self, text: str | None, output: list[events.Event]) -> None:
        if text:
            if not self._has_deltas:
                if text == "{}" and isinstance(self._block, neutral.ToolCall):
                    self._input = text  # all of it, or in place of what follows
                    return
                self._input, self._has_deltas = "", True
            if not self._is_written:
                self._begin(output)
            output.append(events.Delta(text))

    def _begin(self, output: list[events.Event]) -> None:
        if not self._is_written:
            assert isinstance(self._block, neutral.Block)
            self._is_written = True
            output.append(events.Open(self._block))

    def _cite(self, shape: fields.CitationShape, output: list[events.Event]) -> None:
        if (citation := fields.read_citation(shape)) is not None:
            self._begin(output)
            output.append(events.Cite(citation))


def _kind_of(content: fields.Kind) -> str:
    """The type of a block by its members, "" if they do not say it."""
    if content.name != NULL and content.input != NULL:
        return "tool_use"
    if bytes(content.thinking)[:1] == b'"':
        return "thinking"
    return "text" if bytes(content.text)[:1] == b'"' else ""


def _kind_of_delta(delta: fields.DeltaShape) -> str:
    """The type of a delta by its members, "" if they do not say it."""
    members = (delta.text, delta.thinking, delta.partial_json, delta.signature, delta.citation)
    return next((kind for kind, o in zip(_BLOCKS, members, strict=True) if o is not None), "")


_OPENERS: dict[str, Callable[[BlockReader, Raw, str, list[events.Event]], None]] = {
    "text": BlockReader._open_text,
    "thinking": BlockReader._open_thinking,
    "redacted_thinking": BlockReader._open_redacted,
    "tool_use": BlockReader._open_call,
}
