"""The features of responses."""

from __future__ import annotations

from typing import Any

from engine.translations.features import Feature, Features

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_TOOLS = [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}]
_FORM = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}, part]}]}


def _tool(kind: str, **members: Any) -> dict[str, Any]:
    return {"tools": [{"type": kind, **members}]}


FEATURES = Features(
    {"input": "Hi", "store": False},
    [
        Feature("sampling", "temperature", {"temperature": 0.5}),
        Feature("sampling", "top_p", {"top_p": 0.5}),
        Feature("answer", "max_output_tokens", {"max_output_tokens": 4096}),
        Feature(
            "answer",
            "top_logprobs",
            {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
        ),
        Feature("answer", "text.format", {"text": {"format": {"type": "json_object"}}}),
        Feature("answer", "text.format with a schema", {"text": {"format": _FORM}}),
        Feature("answer", "text.verbosity", {"text": {"verbosity": "low"}}),
        Feature("answer", "moderation", {"moderation": {"model": "omni-moderation-latest"}}),
        Feature("reasoning", "reasoning.effort", {"reasoning": {"effort": "low"}}),
        Feature("reasoning", "reasoning.summary", {"reasoning": {"summary": "auto"}}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": "required"}),
        Feature("tools", "parallel_tool_calls", {"tools": _TOOLS, "parallel_tool_calls": False}),
        Feature("tools", "max_tool_calls", {"tools": _TOOLS, "max_tool_calls": 2}),
        Feature("tools", "custom tools", _tool("custom", name="x")),
        Feature("tools", "web_search", _tool("web_search")),
        Feature("tools", "file_search", _tool("file_search", vector_store_ids=["vs_1"])),
        Feature("tools", "code_interpreter", _tool("code_interpreter", container={"type": "auto"})),
        Feature("tools", "image_generation", _tool("image_generation")),
        Feature("tools", "mcp", _tool("mcp", server_label="x", server_url="https://example.com")),
        Feature("content", "images", _content({"type": "input_image", "image_url": _PIXEL})),
        Feature(
            "content",
            "image links",
            _content({"type": "input_image", "image_url": "https://example.com/a.png"}),
        ),
        Feature(
            "content",
            "documents",
            _content({"type": "input_file", "filename": "a.pdf", "file_data": _PAGE}),
        ),
        Feature("content", "uploaded files", _content({"type": "input_file", "file_id": "file-1"})),
        Feature("state", "store", {"store": True}),
        Feature("state", "previous_response_id", {"previous_response_id": "resp_1"}),
        Feature("state", "conversation", {"conversation": "conv_1"}),
        Feature("state", "background", {"background": True}),
        Feature("state", "prompt", {"prompt": {"id": "pmpt_1"}}),
        Feature("state", "truncation", {"truncation": "auto"}),
        Feature("state", "context_management", {"context_management": [{"type": "compaction"}]}),
    ],
)
