"""The contents of messages in chat completions requests -> blocks."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.translations.chat_completions.answer_fields import NAME, REASONING_MEMBERS
from engine.translations.chat_completions.request_shapes import (
    AssistantMessage,
    CallObject,
    FilePart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolMessage,
)
from engine.translations.chat_completions.thoughts import read_detail, read_request_extra
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.members import Members, extra_inside, value_of
from engine.translations.neutral.objects import ObjectReader, UnknownObject, content_reader, present
from engine.translations.openai_content import (
    AudioPart,
    RefusalPart,
    read_audio,
    read_file_data,
    read_refusal,
    read_url,
    required,
)

TOOL_CALL = "tool_calls."
"""Begins the kind of a call of a tool that is no function."""

_THINKING = "thinking"

_CALL = ObjectReader(CallObject)
_THOUGHTS = msgspec.json.Decoder(ThinkingPart)


def _read_image(part: ImagePart, place: str, unread: list[str]) -> Block:
    image, where = part.image_url, f"{place}.image_url.url"
    source = read_url(required(image.url, where), where)
    extra = extra_inside("image_url", image.extra)
    return Media(kind="image", source=source, detail=image.detail or "", extra=extra)


def _read_file(part: FilePart, place: str, unread: list[str]) -> Block:
    file, where = part.file, f"{place}.file"
    name, extra = file.filename or "", file.extra
    if file.file_data is None:
        file_id = required(file.file_id, f"{where}.file_id")
        source: Source = UploadedFile(file_id, NAME)
    else:
        source = read_file_data(file.file_data, name, f"{where}.file_data")
        if file.file_id is not None:
            extra = {"file_id": Raw(msgspec.json.encode(file.file_id)), **extra}
            unread.append(f"{where}.file_id")
    return Media(kind="document", source=source, name=name, extra=extra_inside("file", extra))


read_content = content_reader(
    {
        TextPart: lambda part, place, unread: Text(text=part.text or ""),
        RefusalPart: read_refusal,
        ImagePart: _read_image,
        AudioPart: read_audio,
        FilePart: _read_file,
        UnknownObject: lambda part, place, unread: Foreign(
            language=NAME, kind=part.kind or "", raw=part.raw
        ),
    }
)
"""The blocks of a content at a place; the places of what is not read are noted."""


def read_assistant_blocks(message: AssistantMessage, place: str, unread: list[str]) -> list[Block]:
    """An assistant's message: what it thought, said and called, in this order."""
    blocks = read_content(message.content, f"{place}.content", unread)
    for block in blocks:
        if isinstance(block, Foreign) and block.kind == _THINKING:
            block.substitute = _read_thoughts(block)
    if present(message.provider_specific_fields) is not None:
        _read_provider_fields(message, place, unread)
    if message.reasoning_details or message.reasoning_content or message.reasoning:
        blocks = [*_read_reasoning(message, place, unread), *blocks]
    if message.extra_content:
        blocks = [*_read_extra(message, place, unread), *blocks]
    if message.refusal:
        blocks.append(Refusal(text=message.refusal, place=f"{place}.refusal"))
    if message.tool_calls:
        blocks += _read_calls(message.tool_calls, f"{place}.tool_calls", unread)
    return blocks


def _read_provider_fields(message: AssistantMessage, place: str, unread: list[str]) -> None:
    """What LiteLLM's SDK found in an answer beyond what it knows, which it sends back in a member
    of its own: `reasoning_details` are put where the answer had them."""
    name, details = "provider_specific_fields", "reasoning_details"
    raw = message.provider_specific_fields
    vars(message).update(extra={**message.extra, name: raw})
    fields = Members(raw, f"{place}.{name}")
    items = fields.items(details)
    message.reasoning_details = message.reasoning_details or items
    if items is None or fields.rest():
        unread.append(f"{place}.{name}")


def read_result(message: ToolMessage, place: str, unread: list[str]) -> ToolResult:
    """A message with the role `tool`."""
    call = required(message.tool_call_id, f"{place}.tool_call_id")
    content = read_content(message.content, f"{place}.content", unread)
    return ToolResult(id=call, content=content, place=place)


def _read_thoughts(part: Foreign) -> Reasoning | None:
    """The thoughts in a part, as Mistral writes them; None for a part of another form."""
    thoughts = value_of(_THOUGHTS, part.raw)
    if thoughts is None:
        return None
    text = "".join(piece.text for piece in thoughts.thinking)
    return Reasoning(text=text, signature=Signature(NAME, _THINKING), place=part.place)


def _read_calls(
    calls: list[CallObject | UnknownObject], place: str, unread: list[str]
) -> Iterator[Block]:
    for index, call in enumerate(calls):
        where = f"{place}[{index}]"
        if not isinstance(call, CallObject):
            if call.kind:
                yield Foreign(language=NAME, kind=TOOL_CALL + call.kind, raw=call.raw, place=where)
                continue
            call = _CALL.read(call.raw, where, unread)
        if call.extra_content:
            yield from _read_extra(call, where, unread)
        yield _read_call(call, where)


def _read_extra(
    holder: AssistantMessage | CallObject, place: str, unread: list[str]
) -> Iterator[Reasoning]:
    """The signature of a message or call, if it has one; its own language gets all of it back."""
    raw = holder.extra_content
    if present(raw) is None:
        return
    vars(holder).update(extra={**holder.extra, "extra_content": raw})
    signature = read_request_extra(raw, f"{place}.extra_content")
    if signature is None:
        unread.append(f"{place}.extra_content")
    else:
        yield signature


def _read_call(call: CallObject, place: str) -> Block:
    function = call.function
    block = ToolCall(
        id=required(call.id, f"{place}.id"),
        name=required(function.name, f"{place}.function.name"),
        arguments=function.arguments or "",
        place=place,
    )
    if call.extra or function.extra:
        block.extra = {**extra_inside("function", function.extra), **call.extra}
    return block


def _read_reasoning(message: AssistantMessage, place: str, unread: list[str]) -> list[Block]:
    """Thoughts that the caller sends back: `reasoning_details`, or else the text alone."""
    blocks: list[Block] = [
        read_detail(Members(raw, f"{place}.reasoning_details[{index}]", unread))
        for index, raw in enumerate(message.reasoning_details or ())
    ]
    for name in REASONING_MEMBERS:
        text = getattr(message, name)
        if text and not blocks:
            where = f"{place}.{name}"
            blocks.append(Reasoning(text=text, signature=Signature(NAME, name), place=where))
    return blocks
