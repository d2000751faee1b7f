"""The shapes of messages requests (the members that are read), and the features of callers."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw

from engine.translations.neutral.json_members import NULL, OBJECT, value_of
from engine.translations.neutral.language import Feature, Features, each_alone
from engine.translations.neutral.request_json import JsonObject, UnknownObject


class TextBlock(JsonObject, tag="text"):
    text: str
    citations: Raw = Raw()


class SourceObject(JsonObject):
    """Other kinds and members are this vendor's own: the block is passed on whole."""

    notes = False

    type: Literal["base64", "text", "url", "file"] | None = None
    data: str | None = None
    url: str | None = None
    media_type: str | None = None
    file_id: str | None = None


class ImageBlock(JsonObject, tag="image"):
    source: SourceObject


class DocumentBlock(JsonObject, tag="document"):
    source: SourceObject
    title: str | None = None
    citations: Raw = Raw()


class ThinkingBlock(JsonObject, tag="thinking"):
    thinking: str | None = None
    signature: str | None = None


class RedactedBlock(JsonObject, tag="redacted_thinking"):
    data: str | None = None


class CallBlock(JsonObject, tag="tool_use"):
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()


class ResultBlock(JsonObject, tag="tool_result"):
    """What a tool returned. Blocks of a turn have no place in it: they are passed on as they came,
    so that no depth of results inside results has to be followed."""

    tool_use_id: str | None = None
    content: str | list[TextBlock | ImageBlock | DocumentBlock | UnknownObject] | None = None
    is_error: bool | None = None


ContentBlock = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | ThinkingBlock
    | RedactedBlock
    | CallBlock
    | ResultBlock
    | UnknownObject
)
Content = str | list[ContentBlock] | None


class MessageObject(JsonObject):
    role: str | None = None
    content: Content = None


class ToolObject(JsonObject):
    """A function; its first three members are kept for this vendor, most often without meaning."""

    type: Raw = Raw()
    allowed_callers: Raw = Raw()
    defer_loading: Raw = Raw()
    name: str | None = None
    description: str | None = None
    input_schema: Raw = Raw()
    input_examples: Raw = Raw()
    strict: bool | None = None

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        """The members, also of a function as OpenAI's APIs have it."""
        function = value_of(OBJECT, members.pop("function", NULL))
        members |= function or {}
        return {"input_schema": members.pop("parameters", NULL), **members}


class RequestObject(JsonObject):
    notes = False

    model: str | None = None
    messages: list[MessageObject] | None = None
    system: str | list[TextBlock | UnknownObject] | None = None
    stream: bool | None = None
    max_tokens: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_k: Raw = Raw()
    stop_sequences: list[str] | None = None
    tools: list[Raw] | None = None
    tool_choice: Raw = Raw()
    thinking: Raw = Raw()
    output_config: Raw = Raw()
    output_format: Raw = Raw()
    """What `output_config.format` was called in the beta."""
    metadata: Raw = Raw()


_PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_PAGE = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
_TEXT = {"type": "text", "media_type": "text/plain", "data": "Hi"}
_LINK = {"type": "url", "url": "https://example.com/a.png"}
_FILE = {"type": "file", "file_id": "file_1"}
_RESULT = {"source": "x", "title": "x", "content": [{"type": "text", "text": "x"}]}
_TOOLS = [{"name": "look", "input_schema": {"type": "object"}}]
_FORM = {"type": "json_schema", "schema": {"type": "object"}}
_ALONE = {"type": "auto", "disable_parallel_tool_use": True}
_PREFILL = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "I"}]
_SERVER = {"type": "url", "name": "x", "url": "https://example.com"}


def _content(name: str, kind: str, **members: object) -> Feature:
    parts = [{"type": "text", "text": "Hi"}, {"type": kind, **members}]
    return Feature("content", name, {"messages": [{"role": "user", "content": parts}]})


def _tool(kind: str, name: str) -> Feature:
    return Feature("tools", name, {"tools": [{"type": kind, "name": name}]})


FEATURES = Features(
    {"max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}]},
    [
        *each_alone("sampling", temperature=0.5, top_p=0.5, top_k=5, stop_sequences=["END"]),
        Feature("answer", "output_config.format", {"output_config": {"format": _FORM}}),
        Feature("reasoning", "thinking", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        Feature("reasoning", "output_config.effort", {"output_config": {"effort": "low"}}),
        Feature("answer", "prefill", {"messages": _PREFILL}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": {"type": "any"}}),
        Feature("tools", "disable_parallel_tool_use", {"tools": _TOOLS, "tool_choice": _ALONE}),
        _tool("web_search_20250305", "web_search"),
        _tool("code_execution_20250825", "code_execution"),
        *each_alone("tools", mcp_servers=[_SERVER], container="container_1"),
        Feature("state", "thread", {"thread": {"type": "create"}}),
        _content("images", "image", source=_PIXEL),
        _content("image links", "image", source=_LINK),
        _content("documents", "document", source=_PAGE),
        _content("text documents", "document", source=_TEXT),
        _content("citations", "document", source=_TEXT, citations={"enabled": True}),
        _content("search_result", "search_result", **_RESULT),
        _content("uploaded files", "image", source=_FILE),
    ],
)
