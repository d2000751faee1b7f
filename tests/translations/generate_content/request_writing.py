"""Requests as they are written for a target of this language, accepted by the SDK's types."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types
from msgspec import Raw

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.content import (
    Block,
    Inline,
    Media,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    Role,
    Tool,
)
from engine.values.wildcard import Patterns

Json = dict[str, Any]


OLD, FLASH, LITE, PRO = (
    "gemini-2.0-flash",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-pro",
)


PRO_3, FLASH_3, PRO_31 = "gemini-3-pro-preview", "gemini-3-flash-preview", "gemini-3.1-pro-preview"


HI = Message(role="user", blocks=[Text(text="Hi")])


LOOK = Tool(name="look", place="tools[0]")


SEARCH = BuiltInTool(name="web_search", raw=Raw(b"{}"), kind="web_search", place="tools[1]")


SCHEMA = Raw(b'{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}')


IMAGE = Media(kind="image", source=Inline("image/png", "AA=="), place="image")


GEMINIS = Signature("generate_content", "UzE=")


def write(model: str = PRO_3, messages: list[Message] | None = None, **members: Any) -> Json:
    """The body for a caller of another language, as the SDK's types accept it."""
    return losing(model, messages, **members)[0]


def losing(
    model: str = PRO_3, messages: list[Message] | None = None, **members: Any
) -> tuple[Json, list[str]]:
    """The body, and the places of the losses: those of hints in brackets."""
    request = ChatRequest(
        language="other", model="alias", messages=[HI] if messages is None else messages, **members
    )
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, model, losses).body)
    if losses.remainder_error is not None:
        raise losses.remainder_error
    check(body)
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


def check(body: Json) -> None:
    """The SDK's types accept a body."""
    for content in body["contents"]:
        types.Content.model_validate(content)
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    types.ToolConfig.model_validate(body.get("toolConfig", {}))
    for tool in body.get("tools", []):
        types.Tool.model_validate(tool)


def turn(role: Role, *blocks: Block) -> Message:
    return Message(role=role, blocks=list(blocks), place=role)


def contents(*messages: Message, model: str = PRO_3) -> list[Json]:
    return write(model, list(messages))["contents"]  # type: ignore[no-any-return]


def user_parts(*blocks: Block, model: str = PRO_3) -> list[Json]:
    (content,) = contents(turn("user", *blocks), model=model)
    return content["parts"]  # type: ignore[no-any-return]


def model_parts(*blocks: Block, model: str = PRO_3) -> list[Json]:
    return contents(turn("assistant", *blocks), HI, model=model)[0]["parts"]  # type: ignore[no-any-return]


def call(call_id: str, name: str = "look", arguments: str = "") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments, place=call_id)


def result(call_id: str, *content: Block, **more: Any) -> ToolResult:
    return ToolResult(id=call_id, content=list(content), place=call_id, **more)
