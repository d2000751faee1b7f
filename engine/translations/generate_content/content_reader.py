"""The contents of generate content requests -> messages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal

from msgspec import Raw

from engine.translations.generate_content import part_fields
from engine.translations.generate_content import request_shapes as shapes
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members, WrongType
from engine.translations.neutral.request import Message
from engine.translations.neutral.request_json import present


class PendingCalls:
    """The calls without a result, in their order. No operation depends on their number."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()
        self._ids: dict[str, OrderedDict[str, None]] = {}

    def add(self, name: str, call_id: str) -> None:
        """A call of a function; its id is not empty."""
        self._remove(call_id)
        self._names[call_id] = name
        self._ids.setdefault(name, OrderedDict())[call_id] = None

    def take(self, name: str, call_id: str = "") -> str:
        """The id of the call that a result answers: the one that it names, else the oldest call of
        the function, else the oldest of any, "" for none. It is pending no more."""
        if not call_id:
            call_id = next(iter(self._ids.get(name) or self._names), "")
        self._remove(call_id)
        return call_id

    def _remove(self, call_id: str) -> None:
        if (name := self._names.pop(call_id, None)) is not None:
            del self._ids[name][call_id]


_ROLES: dict[str, Literal["user", "assistant"]] = {
    "": "user",
    "user": "user",
    "function": "user",
    "tool": "user",
    "model": "assistant",
    "assistant": "assistant",  # who came from another format
}
_RESULTS = ("result", "output", "error")
"""Members that alone hold what a tool returned."""

_CONTENTS = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
"""What a part can hold, of which the first counts."""

_contents: Callable[[shapes.PartObject], tuple[Any, ...]] = attrgetter(
    "text", "inline_data", "file_data", "function_call", "function_response"
)


class ContentReader:
    """Reads the contents of one request. Calls without ids get them by their position, results
    those of the calls that they answer: of the same name, in their order."""

    def __init__(self, unread: list[str]) -> None:
        self._unread = unread
        self._pending = PendingCalls()
        self._calls = 0

    def message(self, content: shapes.ContentObject, place: str) -> Message:
        """One turn. Raises WrongType."""
        if (role := _ROLES.get(content.role or "")) is None:
            raise WrongType(f"{place}.role", "user or model")
        blocks = self.blocks(content, place)
        return Message(role=role, blocks=blocks, place=place)

    def blocks(self, content: shapes.ContentObject, place: str) -> list[neutral.Block]:
        """The blocks of a turn: a part's signature stands before what it signs."""
        blocks: list[neutral.Block] = []
        for index, raw in enumerate(content.parts or ()):
            where = f"{place}.parts[{index}]"
            part = shapes.PartObject.read(raw, where, self._unread)
            text = part.thought_signature
            if part.thought:
                thoughts = neutral.Reasoning(text=part.text or "", place=where)
                if text is not None:
                    thoughts.signature = neutral.Signature(
                        part_fields.NAME, part_fields.THOUGHT + text
                    )
                blocks.append(thoughts)
                continue
            if text is not None:
                if (signature := part_fields.read_signature(text)) is not None:
                    _sign(signature, where, blocks)
                if part.text == "":  # only there to carry the signature
                    self._note_others(part, where)
                    continue
            blocks.append(self._block(part, where))
        return blocks

    def _block(self, part: shapes.PartObject, place: str) -> neutral.Block:
        block: neutral.Block
        if part.text is not None:
            block = neutral.Text(text=part.text)
        elif part.inline_data is not None:
            block = part_fields.inline_media(part.inline_data)
        elif part.file_data is not None:
            block = part_fields.linked_media(part.file_data)
        elif part.function_call is not None:
            block = self._call(part.function_call, place)
        elif part.function_response is not None:
            block = self._result(part.function_response, place)
        else:
            kind = next(iter(part.extra), "part")
            return neutral.Foreign(kind=kind, place=place)
        if part.media_resolution is not None:
            self._read_detail(block, part.media_resolution.level or "", place)
        if part.extra or _contents(part).count(None) < len(_CONTENTS) - 1:
            self._note_others(part, place)
        block.place = place
        return block

    def _read_detail(self, block: neutral.Block, level: str, place: str) -> None:
        """The resolution of an image; other media have none elsewhere."""
        if isinstance(block, neutral.Media) and block.kind == "image":
            level = level.removeprefix("MEDIA_RESOLUTION_").lower()
            block.detail = {"low": "low", "high": "high", "ultra_high": "high"}.get(level, "auto")
        else:
            self._unread.append(f"{place}.mediaResolution")

    def _note_others(self, part: shapes.PartObject, place: str) -> None:
        """Note what a part holds besides the content that counts."""
        contents = zip(_CONTENTS, _contents(part), strict=True)
        others = [name for name, content in contents if content is not None][1:]
        self._unread.extend(f"{place}.{name}" for name in [*part.extra, *others])

    def _call(self, call: shapes.FunctionCall, place: str) -> neutral.ToolCall:
        if not call.name:
            raise WrongType(f"{place}.functionCall.name", "the name of a function")
        self._calls += 1
        call_id = call.id or f"call_{self._calls}"
        self._pending.add(call.name, call_id)
        arguments = present(call.args) or b""
        return neutral.ToolCall(id=call_id, name=call.name, arguments=bytes(arguments).decode())

    def _result(self, response: shapes.FunctionResponse, place: str) -> neutral.ToolResult:
        place = f"{place}.functionResponse"
        name = response.name or ""
        call_id = self._pending.take(name, response.id or "")
        text, is_error = _result_text(response.response, f"{place}.response")
        content: list[neutral.Block] = [neutral.Text(text=text, place=place)]
        for index, part in enumerate(response.parts or ()):
            content += _media(part, f"{place}.parts[{index}]")
        return neutral.ToolResult(id=call_id or name, content=content, is_error=is_error)


def _sign(signature: neutral.Signature, place: str, blocks: list[neutral.Block]) -> None:
    """Sign the thoughts before a part, or empty ones."""
    last = blocks[-1] if blocks else None
    if isinstance(last, neutral.Reasoning) and last.signature is None:
        last.signature = signature
    else:
        blocks.append(neutral.Reasoning(signature=signature, place=place))


def _media(part: shapes.ResponsePart, place: str) -> list[neutral.Block]:
    """What a part of a tool's result holds."""
    blocks: list[neutral.Block] = []
    if part.inline_data is not None:
        blocks.append(part_fields.inline_media(part.inline_data))
    if part.file_data is not None:
        blocks.append(part_fields.linked_media(part.file_data))
    for block in blocks:
        block.place = place
    return blocks


def _result_text(raw: Raw, place: str) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error: what the only member `result`,
    `output` or `error` holds, else the JSON of it all."""
    if present(raw) is None:
        return "{}", False
    members = Members(raw, place).copy()
    if len(members) == 1:
        ((name, value),) = members.items()
        if name in _RESULTS:
            is_text = bytes(memoryview(value)[:1]) == b'"'
            text = Members(members, place).text(name) if is_text else None
            return bytes(raw).decode() if text is None else text, name == "error"
    return bytes(raw).decode(), False
