"""The features of chat completions."""

from __future__ import annotations

from typing import Any

from engine.translations.language import Feature, Features, each_alone

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_LINK = "https://example.com/a.png"
_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
_SPEECH = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "mp3"}}
_AUDIO = {"data": "AAAA", "format": "wav"}


def _content(name: str, kind: str, value: Any) -> Feature:
    parts = [{"type": "text", "text": "Hi"}, {"type": kind, kind: value}]
    return Feature("content", name, {"messages": [{"role": "user", "content": parts}]})


FEATURES = Features(
    {"messages": [{"role": "user", "content": "Hi"}]},
    [
        *each_alone("sampling", temperature=0.5, top_p=0.5, seed=1, stop=["END"], n=2),
        *each_alone("sampling", presence_penalty=1, frequency_penalty=1, logit_bias={"1": 2}),
        Feature("answer", "max_completion_tokens", {"max_completion_tokens": 4096}),
        Feature("answer", "logprobs", {"logprobs": True, "top_logprobs": 2}),
        Feature("answer", "response_format", {"response_format": {"type": "json_object"}}),
        Feature("answer", "response_format with a schema", {"response_format": _SCHEMA}),
        Feature("answer", "verbosity", {"verbosity": "low"}),
        Feature("answer", "audio", _SPEECH),
        Feature("answer", "prediction", {"prediction": {"type": "content", "content": "Hi"}}),
        Feature("answer", "moderation", {"moderation": {"model": "omni-moderation-latest"}}),
        Feature("reasoning", "reasoning_effort", {"reasoning_effort": "low"}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": "required"}),
        Feature("tools", "parallel_tool_calls", {"tools": _TOOLS, "parallel_tool_calls": False}),
        Feature("tools", "custom tools", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}),
        Feature("tools", "web_search_options", {"web_search_options": {}}),
        Feature("tools", "functions", {"functions": [{"name": "look"}]}),
        _content("images", "image_url", {"url": _PIXEL}),
        _content("image links", "image_url", {"url": _LINK}),
        _content("input_audio", "input_audio", _AUDIO),
        _content("documents", "file", {"filename": "a.pdf", "file_data": _PAGE}),
        _content("uploaded files", "file", {"file_id": "file-1"}),
        Feature("state", "store", {"store": True}),
    ],
)
