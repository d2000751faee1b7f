"""The contents of generate content requests -> messages.

A block keeps the part that it was read from as its `extra`, for the vendor itself.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Raw

from engine.translations.generate_content.fields import NAME, THOUGHT, read_signature
from engine.translations.generate_content.media_reader import read_file, read_inline
from engine.translations.generate_content.pending_calls import PendingCalls
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import Message

_ROLES: dict[str, Literal["user", "assistant"]] = {
    "": "user",
    "user": "user",
    "function": "user",
    "tool": "user",
    "model": "assistant",
}
_EMPTY = Raw(b"{}")
_RESULTS = ("result", "output", "error")
"""Members that alone hold what a tool returned."""


class ContentReader:
    """Reads the contents of one request. Calls without ids get them by their position, results
    those of the calls that they answer: of the same name, in their order."""

    def __init__(self) -> None:
        self._pending = PendingCalls()
        self._calls = 0

    def message(self, content: Members) -> Message:
        """One turn. Raises WrongType."""
        role = _ROLES.get(content.text("role") or "")
        if role is None:
            raise content.wrong("role", "user or model")
        blocks: list[Block] = []
        place = content.place_of("parts")
        for index, raw in enumerate(content.items("parts") or ()):
            self._part(raw, content.child(raw, f"{place}[{index}]"), blocks)
        return Message(role=role, blocks=blocks, place=content.place, extra=content.rest())

    def _part(self, raw: Raw, part: Members, blocks: list[Block]) -> None:
        """Add the blocks of a part: its signature stands before what it signs."""
        text = part.text("thoughtSignature")
        if part.boolean("thought"):
            signature = None if text is None else Signature(NAME, THOUGHT + text)
            block = Reasoning(text=part.text("text") or "", signature=signature, place=part.place)
            block.extra = part.unread_members()
            blocks.append(block)
            return
        if text is not None:
            _sign(read_signature(text), part.place, blocks)
            if part.peek("text") == b'""':  # only there to carry the signature
                part.text("text")
                part.rest()
                return
        blocks.append(self._block(raw, part))

    def _block(self, raw: Raw, part: Members) -> Block:
        members = part.copy()
        block = self._content(raw, part)
        block.place = part.place
        if not isinstance(block, Foreign):
            part.rest()
            block.extra = members
        return block

    def _content(self, raw: Raw, part: Members) -> Block:
        if (text := part.text("text")) is not None:
            return Text(text=text)
        if (blob := part.members("inlineData")) is not None:
            return _with_detail(read_inline(blob), part)
        if (file := part.members("fileData")) is not None:
            return _with_detail(read_file(file), part)
        if (call := part.members("functionCall")) is not None:
            return self._call(call)
        if (response := part.members("functionResponse")) is not None:
            return self._result(response)
        kind = next(iter(part.unread_members()), "")
        return Foreign(language=NAME, kind=kind or "part", raw=raw)

    def _call(self, call: Members) -> ToolCall:
        name = call.text("name") or ""
        if not name:
            raise call.wrong("name", "the name of a function")
        self._calls += 1
        call_id = call.text("id") or f"call_{self._calls}"
        self._pending.add(name, call_id)
        arguments = call.json("args")
        call.rest()
        return ToolCall(id=call_id, name=name, arguments=arguments)

    def _result(self, response: Members) -> ToolResult:
        name = response.text("name") or ""
        call_id = self._pending.take(name, response.text("id") or "")
        text, is_error = _result_text(response)
        content: list[Block] = [Text(text=text, place=response.place)]
        for part in response.objects("parts"):
            content += _media(part)
        response.rest()
        return ToolResult(id=call_id or name, name=name, content=content, is_error=is_error)


def _sign(signature: Signature, place: str, blocks: list[Block]) -> None:
    """Sign the thoughts before a part, or empty ones."""
    last = blocks[-1] if blocks else None
    if isinstance(last, Reasoning) and last.signature is None:
        last.signature = signature
    else:
        blocks.append(Reasoning(signature=signature, place=place))


def _with_detail(block: Media, part: Members) -> Media:
    """An image with its resolution; other media have none elsewhere."""
    name = "mediaResolution"
    resolution = part.members(name) if block.kind == "image" else None
    if resolution is not None:
        level = (resolution.text("level") or "").removeprefix("MEDIA_RESOLUTION_").lower()
        block.detail = {"low": "low", "high": "high", "ultra_high": "high"}.get(level, "auto")
        resolution.rest()
    return block


def _media(part: Members) -> list[Block]:
    """What a part of a tool's result holds."""
    blocks: list[Block] = []
    if (blob := part.members("inlineData")) is not None:
        blocks.append(read_inline(blob))
    if (file := part.members("fileData")) is not None:
        blocks.append(read_file(file))
    for block in blocks:
        block.place = part.place
    part.rest()
    return blocks


def _result_text(response: Members) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error: what the only member `result`,
    `output` or `error` holds, else the JSON of it all."""
    place, whole = response.place_of("response"), response.json("response")
    if not whole:
        return "{}", False
    members = Members(Raw(whole.encode()), place)
    for name in _RESULTS:
        if name in members:
            text = members.text(name) if members.is_text(name) else None
            members.raw(name)
            if not members.unread_members():
                return whole if text is None else text, name == "error"
            break
    return whole, False
