"""Requests as they are read."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.generate_content.request_reader import read_request
from engine.translations.neutral.content import (
    Block,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import (
    ChatRequest,
)

Json = dict[str, Any]


def read(document: Json, query: str = "", *, stream: bool = False) -> ChatRequest:
    line = RequestLine(model="m", stream=stream, query=query)
    return read_request(json.dumps(document).encode(), line)


def blocks_of(*parts: Json, role: str = "model") -> list[Block]:
    """The blocks of a turn, without their places and what they keep for the vendor."""
    (message,) = read({"contents": [{"role": role, "parts": parts}]}).messages
    for block in message.blocks:
        block.place = ""
        for each_block in block.content if isinstance(block, ToolResult) else ():
            each_block.place = ""
    return message.blocks


def call(name: str, **more: str) -> Json:
    return {"functionCall": {"name": name, **more}}


def returned(name: str, value: Any, **more: Any) -> Json:
    return {"functionResponse": {"name": name, "response": value, **more}}


def ids_of(*turns: tuple[str, list[Json]]) -> list[tuple[str, str]]:
    """The kinds and ids of calls and results."""
    request = read({"contents": [{"role": role, "parts": parts} for role, parts in turns]})
    return [
        ("call" if isinstance(block, ToolCall) else "result", block.id)
        for message in request.messages
        for block in message.blocks
        if isinstance(block, ToolCall | ToolResult)
    ]
