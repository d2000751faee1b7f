"""The features of chat completions."""

from __future__ import annotations

from typing import Any

from engine.translations.features import Feature, Features

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
_FORM = {"name": "answer", "schema": {"type": "object"}}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, part]}]}


FEATURES = Features(
    {"messages": [{"role": "user", "content": "Hi"}]},
    [
        Feature("sampling", "temperature", {"temperature": 0.5}),
        Feature("sampling", "top_p", {"top_p": 0.5}),
        Feature("sampling", "seed", {"seed": 1}),
        Feature("sampling", "stop", {"stop": ["END"]}),
        Feature("sampling", "n", {"n": 2}),
        Feature("sampling", "presence_penalty", {"presence_penalty": 1}),
        Feature("sampling", "frequency_penalty", {"frequency_penalty": 1}),
        Feature("sampling", "logit_bias", {"logit_bias": {"1": 2}}),
        Feature("answer", "max_completion_tokens", {"max_completion_tokens": 4096}),
        Feature("answer", "logprobs", {"logprobs": True, "top_logprobs": 2}),
        Feature("answer", "response_format", {"response_format": {"type": "json_object"}}),
        Feature(
            "answer",
            "response_format with a schema",
            {"response_format": {"type": "json_schema", "json_schema": _FORM}},
        ),
        Feature("answer", "verbosity", {"verbosity": "low"}),
        Feature(
            "answer",
            "audio",
            {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "mp3"}},
        ),
        Feature("answer", "prediction", {"prediction": {"type": "content", "content": "Hi"}}),
        Feature("answer", "moderation", {"moderation": {"model": "omni-moderation-latest"}}),
        Feature("reasoning", "reasoning_effort", {"reasoning_effort": "low"}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": "required"}),
        Feature("tools", "parallel_tool_calls", {"tools": _TOOLS, "parallel_tool_calls": False}),
        Feature("tools", "custom tools", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}),
        Feature("tools", "web_search_options", {"web_search_options": {}}),
        Feature("tools", "functions", {"functions": [{"name": "look"}]}),
        Feature("content", "images", _content({"type": "image_url", "image_url": {"url": _PIXEL}})),
        Feature(
            "content",
            "image links",
            _content({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}),
        ),
        Feature(
            "content",
            "input_audio",
            _content({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
        ),
        Feature(
            "content",
            "documents",
            _content({"type": "file", "file": {"filename": "a.pdf", "file_data": _PAGE}}),
        ),
        Feature(
            "content", "uploaded files", _content({"type": "file", "file": {"file_id": "file-1"}})
        ),
        Feature("state", "store", {"store": True}),
    ],
)
