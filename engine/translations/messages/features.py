"""The features of messages."""

from __future__ import annotations

from typing import Any

from engine.translations.language import Feature, Features, each_alone

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


def _content(name: str, kind: str, **members: Any) -> Feature:
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
