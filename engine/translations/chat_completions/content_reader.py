"""The contents of messages in chat completions requests -> blocks."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

import msgspec
from msgspec import Raw

from engine.translations.chat_completions import request_shapes as shapes
from engine.translations.chat_completions.answer_fields import NAME, REASONING_MEMBERS
from engine.translations.chat_completions.thoughts import read_detail, read_request_extra
from engine.translations.neutral import content as neutral
from engine.translations.neutral.answer_json import texts_of
from engine.translations.neutral.calls import call_id
from engine.translations.neutral.json_members import Members, value_of
from engine.translations.neutral.request_json import UnknownObject, content_reader, present
from engine.translations.vendors import openai_content
from engine.translations.vendors.other_parts import read_other_part

_THINKING = "thinking"
_CALL, _RESULT = "tool_use", "tool_result"

_NO_ID = "call"  # of calls and results to which a server gave none: their order tells them apart
_THOUGHTS = msgspec.json.Decoder(shapes.ThinkingPart)


def _read_image(part: shapes.ImagePart, place: str, unread: list[str]) -> neutral.Block:
    image, where = part.image_url, f"{place}.image_url.url"
    source = openai_content.read_url(openai_content.required(image.url, where), where)
    return neutral.Media(kind="image", source=source, detail=image.detail or "")


def _read_file(part: shapes.FilePart, place: str, unread: list[str]) -> neutral.Block:
    file, where, name = part.file, f"{place}.file", part.file.filename or ""
    if file.file_data is None:
        openai_content.required(file.file_id, f"{where}.file_id")
        source: neutral.Source = neutral.UploadedFile()
    else:
        source = openai_content.read_file_data(file.file_data, name, f"{where}.file_data")
        if file.file_id is not None:
            unread.append(f"{where}.file_id")
    return neutral.Media(kind="document", source=source, name=name)


def _read_other(part: UnknownObject, place: str, unread: list[str]) -> neutral.Block:
    """A part that the format does not have. Cursor sends the calls and the results of Claude's
    models as Anthropic has them."""
    if part.kind not in (_CALL, _RESULT):
        return read_other_part(part, place, unread)
    members = Members(part.extra.copy(), place, unread)
    members.raw("type")
    block: neutral.Block
    if part.kind == _CALL:
        name = openai_content.required(members.text("name"), f"{place}.name")
        block = neutral.ToolCall(id=members.text("id") or _NO_ID, name=name)
        block.arguments = bytes(members.raw("input") or b"{}").decode()
        if block.arguments[:1] != "{":
            raise members.wrong("input", "an object")
    else:
        text = b'{"content":%b}' % bytes(members.raw("content") or b"null")
        content = shapes.ToolMessage.read(text, place, unread).content
        block = neutral.ToolResult(id=members.text("tool_use_id") or _NO_ID)
        block.content = read_content(content, f"{place}.content", unread)
        block.is_error = members.raw("is_error") == Raw(b"true")
    members.rest()
    return block


read_content = content_reader(
    {
        shapes.TextPart: lambda part, place, unread: neutral.Text(text=part.text or ""),
        openai_content.RefusalPart: openai_content.read_refusal,
        shapes.ImagePart: _read_image,
        openai_content.AudioPart: openai_content.read_audio,
        shapes.FilePart: _read_file,
        UnknownObject: _read_other,
    }
)


def read_assistant_blocks(
    message: shapes.AssistantMessage, place: str, unread: list[str]
) -> list[neutral.Block]:
    """An assistant's message: what it thought, said and called, in this order."""
    blocks = read_content(message.content, f"{place}.content", unread)
    if isinstance(message.content, list):
        for block, part in zip(blocks, message.content, strict=True):
            if isinstance(part, UnknownObject) and part.kind == _THINKING:
                assert isinstance(block, neutral.Foreign)
                block.substitute = _read_thoughts(part.raw, block.place)
    if any(_rare_members(message)):
        blocks = _with_rare(message, blocks, place, unread)
    if message.tool_calls:
        blocks += _read_calls(message.tool_calls, f"{place}.tool_calls", unread)
    return blocks


_rare_members = attrgetter(
    *("prefix", "provider_specific_fields", "extra_content", "refusal", "function_call"),
    *("reasoning_details", *REASONING_MEMBERS),
)
"""The members that few messages have: all are false where none is there."""


def _with_rare(
    message: shapes.AssistantMessage, blocks: list[neutral.Block], place: str, unread: list[str]
) -> list[neutral.Block]:
    """The blocks of the content, among those of the members that few messages have."""
    unread += [f"{place}.prefix"] if message.prefix else []  # it is to be continued (Mistral)
    if present(message.provider_specific_fields) is not None:
        _read_provider_fields(message, place, unread)
    if message.reasoning_details or message.reasoning_content or message.reasoning:
        blocks = [*_read_reasoning(message, place, unread), *blocks]
    if message.extra_content:
        blocks = [*_read_extra(message, place, unread), *blocks]
    if message.refusal:
        blocks.append(neutral.Refusal(text=message.refusal, place=f"{place}.refusal"))
    if (function := message.function_call) is not None:
        where = f"{place}.function_call"
        name = openai_content.required(function.name, f"{where}.name")
        call = neutral.ToolCall(id=call_id(f"call_{name}"), name=name, place=where)
        call.arguments = function.arguments or ""
        blocks.append(call)
    return blocks


def _read_provider_fields(message: shapes.AssistantMessage, place: str, unread: list[str]) -> None:
    """What LiteLLM's SDK found in an answer beyond what it knows, which it sends back in a member
    of its own: `reasoning_details` are put where the answer had them."""
    name, details = "provider_specific_fields", "reasoning_details"
    fields = Members(message.provider_specific_fields, f"{place}.{name}")
    items = fields.items(details)
    message.reasoning_details = message.reasoning_details or items
    if items is None or fields.rest():
        unread.append(f"{place}.{name}")


def read_result(
    message: shapes.ToolMessage | shapes.FunctionMessage, place: str, unread: list[str]
) -> list[neutral.Block]:
    if isinstance(message, shapes.FunctionMessage):
        result_id = call_id(f"call_{openai_content.required(message.name, f'{place}.name')}")
    else:
        result_id = message.tool_call_id or _NO_ID
    content = read_content(message.content, f"{place}.content", unread)
    return [neutral.ToolResult(id=result_id, content=content, place=place)]


def _read_thoughts(part: Raw, place: str) -> neutral.Reasoning | None:
    """The thoughts in a part, signed where Mistral has written them; None for another part."""
    if (thoughts := value_of(_THOUGHTS, part)) is None:
        return None
    if isinstance(thoughts.thinking, str):
        return neutral.Reasoning(text=thoughts.thinking, place=place)
    text = "".join(texts_of(thoughts.thinking))
    return neutral.Reasoning(text=text, signature=neutral.Signature(NAME, _THINKING), place=place)


def _read_calls(
    calls: list[shapes.CallObject | UnknownObject], place: str, unread: list[str]
) -> Iterator[neutral.Block]:
    for index, call in enumerate(calls):
        where = f"{place}[{index}]"
        if not isinstance(call, shapes.CallObject):
            if call.kind:
                yield neutral.Foreign(kind=f"tool_calls.{call.kind}", place=where)
                continue
            call = shapes.CallObject.read(call.raw, where, unread)
        if call.extra_content:
            yield from _read_extra(call, where, unread)
        yield neutral.ToolCall(
            id=call.id or _NO_ID,
            name=openai_content.required(call.function.name, f"{where}.function.name"),
            arguments=call.function.arguments or "",
            place=where,
        )


def _read_extra(
    holder: shapes.AssistantMessage | shapes.CallObject, place: str, unread: list[str]
) -> Iterator[neutral.Reasoning]:
    if (raw := present(holder.extra_content)) is None:
        return
    signature = read_request_extra(raw, f"{place}.extra_content")
    if signature is None:
        unread.append(f"{place}.extra_content")
    else:
        yield signature


def _read_reasoning(
    message: shapes.AssistantMessage, place: str, unread: list[str]
) -> list[neutral.Block]:
    """Thoughts that the caller sends back: `reasoning_details`, or else the text alone."""
    blocks: list[neutral.Block] = [
        read_detail(Members(raw, f"{place}.reasoning_details[{index}]", unread))
        for index, raw in enumerate(message.reasoning_details or ())
    ]
    for name in REASONING_MEMBERS:
        text = getattr(message, name)
        if text and not blocks:
            where = f"{place}.{name}"
            blocks.append(
                neutral.Reasoning(text=text, signature=neutral.Signature(NAME, name), place=where)
            )
    return blocks
