"""The features of messages."""

from __future__ import annotations

from typing import Any

from engine.translations.features import Feature, Features

_PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_PAGE = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
_TEXT = {"type": "text", "media_type": "text/plain", "data": "Hi"}
_LINK = "https://example.com/a.png"
_TOOLS = [{"name": "look", "input_schema": {"type": "object"}}]
_FORM = {"type": "json_schema", "schema": {"type": "object"}}
_ALONE = {"type": "auto", "disable_parallel_tool_use": True}


def _content(kind: str, **members: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": "Hi"}, {"type": kind, **members}]
    return {"messages": [{"role": "user", "content": parts}]}


def _tool(kind: str, name: str) -> dict[str, Any]:
    return {"tools": [{"type": kind, "name": name}]}


FEATURES = Features(
    {"max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}]},
    [
        Feature("sampling", "temperature", {"temperature": 0.5}),
        Feature("sampling", "top_p", {"top_p": 0.5}),
        Feature("sampling", "top_k", {"top_k": 5}),
        Feature("sampling", "stop_sequences", {"stop_sequences": ["END"]}),
        Feature("answer", "output_config.format", {"output_config": {"format": _FORM}}),
        Feature("reasoning", "thinking", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        Feature("reasoning", "output_config.effort", {"output_config": {"effort": "low"}}),
        Feature(
            "answer",
            "prefill",
            {
                "messages": [
                    {"role": "user", "content": "Hi"},
                    {"role": "assistant", "content": "I"},
                ]
            },
        ),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": {"type": "any"}}),
        Feature("tools", "disable_parallel_tool_use", {"tools": _TOOLS, "tool_choice": _ALONE}),
        Feature("tools", "web_search", _tool("web_search_20250305", "web_search")),
        Feature("tools", "code_execution", _tool("code_execution_20250825", "code_execution")),
        Feature(
            "tools",
            "mcp_servers",
            {"mcp_servers": [{"type": "url", "name": "x", "url": "https://example.com"}]},
        ),
        Feature("tools", "container", {"container": "container_1"}),
        Feature("state", "thread", {"thread": {"type": "create"}}),
        Feature("content", "images", _content("image", source=_PIXEL)),
        Feature("content", "image links", _content("image", source={"type": "url", "url": _LINK})),
        Feature("content", "documents", _content("document", source=_PAGE)),
        Feature("content", "text documents", _content("document", source=_TEXT)),
        Feature(
            "content", "citations", _content("document", source=_TEXT, citations={"enabled": True})
        ),
        Feature(
            "content",
            "search_result",
            _content(
                "search_result", source="x", title="x", content=[{"type": "text", "text": "x"}]
            ),
        ),
        Feature(
            "content",
            "uploaded files",
            _content("image", source={"type": "file", "file_id": "file_1"}),
        ),
    ],
)
