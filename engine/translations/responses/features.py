"""The features of responses."""

from __future__ import annotations

from typing import Any

from engine.translations.language import Feature, Features, each_alone

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_LINK = "https://example.com/a.png"
_TOOLS = [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}]
_FORM = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
_LOGPROBS = {"top_logprobs": 2, "include": ["message.output_text.logprobs"]}


def _content(name: str, kind: str, **members: Any) -> Feature:
    parts = [{"type": "input_text", "text": "Hi"}, {"type": kind, **members}]
    return Feature("content", name, {"input": [{"role": "user", "content": parts}]})


def _tool(kind: str, feature: str = "", **members: Any) -> Feature:
    return Feature("tools", feature or kind, {"tools": [{"type": kind, **members}]})


FEATURES = Features(
    {"input": "Hi", "store": False},
    [
        *each_alone("sampling", temperature=0.5, top_p=0.5),
        Feature("answer", "max_output_tokens", {"max_output_tokens": 4096}),
        Feature("answer", "top_logprobs", _LOGPROBS),
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
        _tool("custom", "custom tools", name="x"),
        _tool("web_search"),
        _tool("file_search", vector_store_ids=["vs_1"]),
        _tool("code_interpreter", container={"type": "auto"}),
        _tool("image_generation"),
        _tool("mcp", server_label="x", server_url="https://example.com"),
        _content("images", "input_image", image_url=_PIXEL),
        _content("image links", "input_image", image_url=_LINK),
        _content("documents", "input_file", filename="a.pdf", file_data=_PAGE),
        _content("uploaded files", "input_file", file_id="file-1"),
        *each_alone("state", store=True, previous_response_id="resp_1", conversation="conv_1"),
        *each_alone("state", background=True, prompt={"id": "pmpt_1"}, truncation="auto"),
        Feature("state", "context_management", {"context_management": [{"type": "compaction"}]}),
    ],
)
