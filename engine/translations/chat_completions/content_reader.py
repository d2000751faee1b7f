"""The contents of messages in chat completions requests -> blocks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.chat_completions.answer_fields import (
    NAME,
    REASONING_MEMBERS,
    read_detail,
)
from engine.translations.neutral.cache_marks import read_cache_mark
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.extra import extra_inside
from engine.translations.neutral.members import Members
from engine.translations.openai_request_fields import read_file_data, read_url

TOOL_CALL = "tool_calls."
"""Begins the kind of a call of a tool that is no function."""


def read_blocks(members: Members) -> list[Block]:
    """The member `content` of a message: a string or parts."""
    place = members.place_of("content")
    if members.is_text("content"):
        return [Text(text=members.text("content") or "", place=place)]
    return [
        _read_part(raw_part, members.child(raw_part, f"{place}[{index}]"))
        for index, raw_part in enumerate(members.items("content") or ())
    ]


def read_assistant_blocks(members: Members) -> list[Block]:
    """An assistant's message: what it thought, said and called, in this order."""
    blocks: list[Block] = [*_read_reasoning(members), *read_blocks(members)]
    _forget_echoes(members, "parsed", "annotations")
    refusal = members.text("refusal")
    if refusal:
        blocks.append(Refusal(text=refusal, place=members.place_of("refusal")))
    return [*blocks, *_read_calls(members)]


def read_result(members: Members) -> ToolResult:
    """A message with the role `tool`."""
    call = _text(members, "tool_call_id")
    return ToolResult(id=call, content=read_blocks(members), place=members.place)


def _read_part(raw: Raw, part: Members) -> Block:
    kind = part.text("type") or ""
    read = _PARTS.get(kind)
    if read is None:
        return Foreign(language=NAME, kind=kind, raw=raw, place=part.place)
    block = read(part)
    block.place, block.cache = part.place, read_cache_mark(part)
    block.extra = {**block.extra, **part.rest()}
    return block


def _read_text(part: Members) -> Block:
    return Text(text=part.text("text") or "")


def _read_refusal(part: Members) -> Block:
    return Refusal(text=part.text("refusal") or "")


def _read_image(part: Members) -> Block:
    image = _inner(part, "image_url")
    source = read_url(_text(image, "url"), image.place_of("url"))
    block = Media(kind="image", source=source, detail=image.text("detail") or "")
    block.extra = extra_inside("image_url", image.rest())
    return block


def _read_audio(part: Members) -> Block:
    audio = _inner(part, "input_audio")
    source = Inline(f"audio/{_text(audio, 'format')}", _text(audio, "data"))
    extra = extra_inside("input_audio", audio.rest())
    return Media(kind="audio", source=source, extra=extra)


def _read_file(part: Members) -> Block:
    file = _inner(part, "file")
    name, source = file.text("filename") or "", None
    if (data := file.text("file_data")) is not None:
        source = read_file_data(data, file.place_of("file_data"))
    block = Media(
        kind="document", source=source or UploadedFile(_text(file, "file_id"), NAME), name=name
    )
    block.extra = extra_inside("file", file.rest())
    return block


_PARTS = {
    "text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
}


def _text(members: Members, name: str) -> str:
    """A member that is required."""
    text = members.text(name)
    if not text:
        raise members.wrong(name, "a string that is not empty")
    return text


def _inner(part: Members, name: str) -> Members:
    value = part.members(name)
    if value is None:
        raise part.wrong(name, "an object")
    return value


def _read_calls(members: Members) -> Iterator[Block]:
    place = members.place_of("tool_calls")
    for index, raw in enumerate(members.items("tool_calls") or ()):
        call = members.child(raw, f"{place}[{index}]")
        kind = call.text("type") or "function"
        if kind == "function":
            yield _read_call(call)
        else:
            yield Foreign(language=NAME, kind=TOOL_CALL + kind, raw=raw, place=call.place)


def _read_call(call: Members) -> Block:
    function = _inner(call, "function")
    block = ToolCall(
        id=_text(call, "id"),
        name=_text(function, "name"),
        arguments=function.text("arguments") or "",
        place=call.place,
    )
    _forget_echoes(call, "index")  # SDKs send back what they read, with what they made of it
    _forget_echoes(function, "parsed_arguments")
    block.extra = {**extra_inside("function", function.rest()), **call.rest()}
    return block


def _forget_echoes(members: Members, *names: str) -> None:
    for name in names:
        members.raw(name)


def _read_reasoning(members: Members) -> list[Block]:
    """Thoughts that the caller sends back: `reasoning_details`, or else the text alone."""
    blocks: list[Block] = [*map(read_detail, members.objects("reasoning_details"))]
    for name in REASONING_MEMBERS:
        text = members.text(name) or ""
        if text and not blocks:
            place = members.place_of(name)
            blocks.append(Reasoning(text=text, signature=Signature(NAME, name), place=place))
    return blocks
