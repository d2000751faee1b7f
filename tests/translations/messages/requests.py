"""Requests in the neutral form, as they are written for a model."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    ChatRequest,
    Message,
    Tool,
)
from engine.values.wildcard import Patterns

HI = Message(role="user", blocks=[Text(text="Hi")])
OLD, NEW, ALWAYS = "claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5"
LOOK, TIME = Tool(name="look"), Tool(name="time")
SAMPLING = ["temperature", "top_p", "top_k"]
ALONE = {"disable_parallel_tool_use": True}


def write(
    model: str = NEW, language: str = "other", messages: list[Message] | None = None, **members: Any
) -> tuple[Any, list[str]]:
    """The body for a caller of another language, and the places of the losses: those of hints in
    brackets."""
    request = ChatRequest(
        language=language, model="alias", messages=[HI] if messages is None else messages, **members
    )
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, model, losses).body)
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


CALLED = [
    HI,
    Message(role="assistant", blocks=[ToolCall(id="1", name="look")]),
    Message(role="user", blocks=[ToolResult(id="1")]),
]
