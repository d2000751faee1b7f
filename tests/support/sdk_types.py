"""Validates requests to targets by the official SDKs' types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from anthropic.types.message_create_params import MessageCreateParams
from google.genai import types as genai
from openai.types.chat.completion_create_params import CompletionCreateParams
from openai.types.responses.response_create_params import ResponseCreateParams
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from tests.support import bedrock


class GenerateContentParams(TypedDict, total=False):
    """The body of a generate content request, which the SDK builds from types of its own."""

    contents: list[genai.Content]
    systemInstruction: genai.Content
    generationConfig: genai.GenerationConfig
    tools: list[genai.Tool]
    toolConfig: genai.ToolConfig
    safetySettings: list[genai.SafetySetting]
    cachedContent: str


_TYPES: dict[str, Any] = {
    "chat_completions": CompletionCreateParams,
    "responses": ResponseCreateParams,
    "messages": MessageCreateParams,
    "generate_content": GenerateContentParams,
}

_SAMPLING = ("temperature", "top_p", "top_k")
"""Members of the version of Anthropic's API that the gateway asks for; newer SDKs, which ask for a
newer version, do not have them."""


@cache
def _adapter(language: str) -> TypeAdapter[Any]:
    return TypeAdapter(list[_TYPES[language]], config=ConfigDict(extra="forbid"))  # type: ignore[misc]


def check_request(language: str, body: bytes) -> None:
    """Raise pydantic's ValidationError (AssertionError for Bedrock) for a body that the SDK of a
    language could not send. Members that the SDK does not know are errors.
    """
    if language == "converse":
        assert bedrock.problems("m", body) == []
        return
    members = json.loads(body)
    if language == "messages":
        members = {name: value for name, value in members.items() if name not in _SAMPLING}
    _exhaust(_adapter(language).validate_python([members]))


def _exhaust(value: Any) -> None:
    """Iterate a value at any depth: pydantic checks an Iterable only when it is iterated."""
    if isinstance(value, Mapping):
        for each in value.values():
            _exhaust(each)
    elif isinstance(value, list | tuple | Iterator):
        for each in value:
            _exhaust(each)
