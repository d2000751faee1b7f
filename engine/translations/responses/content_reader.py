"""The items of responses requests -> messages, and the parts of messages and results -> blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral import content as neutral
from engine.translations.neutral.answer_json import TextPiece
from engine.translations.neutral.json_members import NULL, Members, WrongType, encode, read_shape
from engine.translations.neutral.request import ChatRequest, Message, MissingTurns, Role
from engine.translations.neutral.request_json import (
    JsonObject,
    UnknownObject,
    content_reader,
    present,
)
from engine.translations.responses import caller_tools
from engine.translations.responses import request_shapes as shapes
from engine.translations.responses.answer_fields import Annotation, read_signature, thoughts
from engine.translations.vendors import openai_content
from engine.translations.vendors.other_parts import read_other_part

_ANNOTATIONS = msgspec.json.Decoder(list[Annotation] | None)


def _read_text(part: shapes.TextPart, place: str, unread: list[str]) -> neutral.Block:
    if part.annotations:
        read_shape(_ANNOTATIONS, part.annotations, f"{place}.annotations")  # the vendor's own
    return neutral.Text(text=part.text or "")


def _read_image(part: shapes.ImagePart, place: str, unread: list[str]) -> neutral.Block:
    if part.image_url is None:
        source: neutral.Source = _uploaded(part.file_id, place)
    else:
        source = openai_content.read_url(part.image_url, f"{place}.image_url")
        _note_unused(part, ("file_id",), place, unread)
    return neutral.Media(kind="image", source=source, detail=part.detail or "")


def _read_file(part: shapes.FilePart, place: str, unread: list[str]) -> neutral.Block:
    name = part.filename or ""
    if part.file_url is not None:
        source = openai_content.read_url(part.file_url, f"{place}.file_url")
        _note_unused(part, ("file_data", "file_id"), place, unread)
    elif part.file_data is not None:
        source = openai_content.read_file_data(part.file_data, name, f"{place}.file_data")
        _note_unused(part, ("file_id",), place, unread)
    else:
        source = _uploaded(part.file_id, place)
    return neutral.Media(kind="document", source=source, name=name)


def _note_unused(part: JsonObject, names: tuple[str, ...], place: str, unread: list[str]) -> None:
    """Note members that say again, in another way, where the content is."""
    unread.extend(f"{place}.{name}" for name in names if getattr(part, name) is not None)


def _uploaded(file_id: str | None, place: str) -> neutral.UploadedFile:
    openai_content.required(file_id, f"{place}.file_id")
    return neutral.UploadedFile()


read_content = content_reader(
    {
        **dict.fromkeys(
            (shapes.InputTextPart, shapes.OutputTextPart, shapes.TextPart, shapes.SummaryTextPart),
            _read_text,
        ),
        openai_content.RefusalPart: openai_content.read_refusal,
        shapes.ImagePart: _read_image,
        shapes.FilePart: _read_file,
        openai_content.AudioPart: openai_content.read_audio,
        UnknownObject: lambda part, place, unread: read_other_part(part, place, unread, "content."),
    }
)


_CLIENT = Raw(b'"client"')

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}

_OMISSIBLE = {"web_search_call", "agent_reasoning"}
_MODELS = {
    *("reasoning", "program", "compaction", "mcp_list_tools", "mcp_approval_request"),
    "agent_reasoning",
}
"""Items of the model's turns, beside its calls."""

_COMPACTED = "Send the items that it stands for, or a summary of them as a message."
_STORED = {
    "item_reference": "Send 'store': false and the items themselves instead of their ids.",
    "compaction": _COMPACTED,
    "compaction_summary": _COMPACTED,
    "context_compaction": _COMPACTED,
}
"""Items that stand for turns which only the vendor can read, and what to send instead."""

_HEAD = msgspec.json.Decoder(shapes.ItemHead)
_CALLS: dict[str, type[shapes.CallItem]] = {
    "function_call": shapes.CallItem,
    "custom_tool_call": shapes.CustomCallItem,
}
_THOUGHTS = msgspec.json.Decoder(list[TextPiece])


def read_item(raw: Raw, place: str, request: ChatRequest) -> Message | None:
    """A message of one item at `place`; tools that it declares are noted in the request, and the
    places of what is not read. None for an item that has only tools. Raises WrongType."""
    head = read_shape(_HEAD, raw, place)
    kind = head.type or ("message" if present(head.role) else "item_reference")
    unread = request.unread
    if kind == "message":
        return _message(shapes.MessageItem.read(raw, place, unread), place, unread)
    if kind in _ITEMS and present(head.namespace) is None:
        role, shape, read = _ITEMS[kind]
        block = read(shape.read(raw, place, unread), place, unread)
        return Message(role=role, blocks=[block], place=place)
    if kind == "agent_message":
        return _agent_message(shapes.AgentMessageItem.read(raw, place, unread), place, unread)
    if kind == "additional_tools":
        tools = shapes.ToolsItem.read(raw, place, unread).tools
        request.loaded_tools += caller_tools.read_tools(tools, f"{place}.tools", request)
        return None
    if kind in _STORED:
        request.missing_turns.append(MissingTurns(place, _STORED[kind]))
    substitute = _substitute(kind, raw, place, request)
    block = neutral.Foreign(
        kind=kind, substitute=substitute, omissible=kind in _OMISSIBLE, place=place
    )
    role = "assistant" if kind.endswith("_call") or kind in _MODELS else "user"
    return Message(role=role, blocks=[block], place=place)


def _message(item: shapes.MessageItem, place: str, unread: list[str]) -> Message:
    if (role := _ROLES.get(item.role or "")) is None:
        raise WrongType(f"{place}.role", "user, assistant, system or developer")
    return Message(
        role=role, blocks=read_content(item.content, f"{place}.content", unread), place=place
    )


def _agent_message(item: shapes.AgentMessageItem, place: str, unread: list[str]) -> Message:
    """For other vendors' models a turn of the user's, which says whose words they are."""
    blocks = read_content(item.content, f"{place}.content", unread)
    if item.author:
        author = neutral.Text(text=f"(The agent {item.author!r} says this.)", place=place)
        blocks = [author, *blocks]
    return Message(role="user", blocks=blocks, place=place)


def _call(item: shapes.CallItem, place: str, unread: list[str]) -> neutral.ToolCall:
    return neutral.ToolCall(
        id=openai_content.required(item.call_id, f"{place}.call_id"),
        name=openai_content.required(item.name, f"{place}.name"),
        arguments=item.arguments or "",
        place=place,
    )


def _substitute(kind: str, raw: Raw, place: str, request: ChatRequest) -> neutral.Block | None:
    """The block that tells another vendor's model the same as an item of this language alone."""
    unread = request.unread
    if kind in _CALLS:
        item = _CALLS[kind].read(raw, place, unread)
        call = _call(item, place, unread)
        call.name = caller_tools.function_name(item.namespace or "", call.name)
        if isinstance(item, shapes.CustomCallItem):
            call.arguments = caller_tools.text_arguments(item.input or "")
        return call
    if kind == "custom_tool_call_output":
        return _result(shapes.ResultItem.read(raw, place, unread), place, unread)
    if kind == "local_shell_call":
        return _shell_call(shapes.ShellCallItem.read(raw, place, unread), place)
    if kind == "local_shell_call_output":
        result = shapes.ResultItem.read(raw, place, unread)
        # The vendor's document has the id of the call as that of the item.
        result.call_id = result.call_id or Members({"id": result.id or NULL}, place).text("id")
        return _result(result, place, unread)
    if kind == "tool_search_call":
        return _search_call(raw, place, unread)
    if kind == "tool_search_output":
        return _search_result(raw, place, request)
    return None


def _shell_call(item: shapes.ShellCallItem, place: str) -> neutral.ToolCall:
    call_id = openai_content.required(item.call_id, f"{place}.call_id")
    action = Members(item.action or b"{}", f"{place}.action").copy()
    action.pop("type", None)
    arguments = encode(action).decode()
    return neutral.ToolCall(id=call_id, name=caller_tools.SHELL, arguments=arguments, place=place)


def _search_call(raw: Raw, place: str, unread: list[str]) -> neutral.ToolCall | None:
    """A search of the caller's; None for one that the vendor runs."""
    places: list[str] = []
    item = shapes.SearchCallItem.read(raw, place, places)
    if item.execution != _CLIENT:
        return None
    unread += places
    arguments = bytes(item.arguments or b"{}").decode()
    call_id = openai_content.required(item.call_id, f"{place}.call_id")
    return neutral.ToolCall(id=call_id, name=caller_tools.SEARCH, arguments=arguments, place=place)


def _search_result(raw: Raw, place: str, request: ChatRequest) -> neutral.ToolResult | None:
    places: list[str] = []
    item = shapes.SearchResultItem.read(raw, place, places)
    if item.execution != _CLIENT:
        return None
    request.unread += places
    tools = caller_tools.read_tools(item.tools, f"{place}.tools", request)
    request.loaded_tools += tools
    result = _result(item, place, request.unread)
    result.content = [neutral.Text(text=caller_tools.names_of(tools), place=place)]
    return result


def _result(item: shapes.ResultItem, place: str, unread: list[str]) -> neutral.ToolResult:
    return neutral.ToolResult(
        id=openai_content.required(item.call_id, f"{place}.call_id"),
        content=read_content(item.output, f"{place}.output", unread),
        place=place,
    )


def _reasoning(item: shapes.ReasoningItem, place: str, unread: list[str]) -> neutral.Block:
    summary, content = (
        None if present(raw) is None else read_shape(_THOUGHTS, raw, f"{place}.{name}")
        for name, raw in (("summary", item.summary), ("content", item.content))
    )
    return neutral.Reasoning(
        text=thoughts(summary, content),
        signature=read_signature(item.encrypted_content or "", item.id or ""),
        place=place,
    )


_ITEMS: dict[str, tuple[Role, type[JsonObject], Callable[[Any, str, list[str]], neutral.Block]]] = {
    "function_call": ("assistant", shapes.CallItem, _call),
    "function_call_output": ("user", shapes.ResultItem, _result),
    "reasoning": ("assistant", shapes.ReasoningItem, _reasoning),
}
"""The items that every vendor has: whose turn each is in, and what reads it."""
