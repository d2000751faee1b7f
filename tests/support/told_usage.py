"""What a caller is told of usage, read here without the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Counts = dict[str, int]


def told(caller: str, documents: list[Json]) -> Counts:
    """The counts in an answer of a language of callers, one document or those of a stream, none for
    an answer that tells none: of `input`, `output`, `cached`, `cache_write` and `reasoning` those
    that its format has."""
    usages = [usage for each in documents if (usage := _USAGE[caller](each))]
    return _READERS[caller](usages[-1]) if usages else {}


def _chat(usage: Json) -> Counts:
    details = usage["prompt_tokens_details"]
    return {
        "input": usage["prompt_tokens"],
        "output": usage["completion_tokens"],
        "cached": details["cached_tokens"],
        "cache_write": details.get("cache_write_tokens", 0),
        "reasoning": usage["completion_tokens_details"]["reasoning_tokens"],
    }


def _responses(usage: Json) -> Counts:
    details = usage["input_tokens_details"]
    return {
        "input": usage["input_tokens"],
        "output": usage["output_tokens"],
        "cached": details["cached_tokens"],
        "cache_write": details["cache_write_tokens"],
        "reasoning": usage["output_tokens_details"]["reasoning_tokens"],
    }


def _messages(usage: Json) -> Counts:
    cached, cache_write = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    return {
        "input": usage["input_tokens"] + cached + cache_write,
        "output": usage["output_tokens"],
        "cached": cached,
        "cache_write": cache_write,
        "reasoning": usage.get("output_tokens_details", {}).get("thinking_tokens", 0),
    }


def _gemini(usage: Json) -> Counts:
    reasoning = usage.get("thoughtsTokenCount", 0)
    return {
        "input": usage["promptTokenCount"],
        "output": usage["candidatesTokenCount"] + reasoning,
        "cached": usage.get("cachedContentTokenCount", 0),
        "reasoning": reasoning,
    }


_USAGE: dict[str, Callable[[Json], Json | None]] = {
    "chat_completions": lambda document: document.get("usage"),
    "responses": lambda document: document.get("response", document).get("usage"),
    "messages": lambda document: document.get("message", document).get("usage"),
    "generate_content": lambda document: document.get("usageMetadata"),
}
_READERS: dict[str, Callable[[Json], Counts]] = {
    "chat_completions": _chat,
    "responses": _responses,
    "messages": _messages,
    "generate_content": _gemini,
}
