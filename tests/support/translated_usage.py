"""One usage in the format of each vendor, and what it is charged as."""

from __future__ import annotations

import json
from typing import Any

from tests.support.books import Row

USAGE: dict[str, dict[str, Any]] = {
    "chat_completions": {
        "prompt_tokens": 1200,
        "completion_tokens": 90,
        "total_tokens": 1290,
        "prompt_tokens_details": {"cached_tokens": 1000},
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "responses": {
        "input_tokens": 1200,
        "input_tokens_details": {"cached_tokens": 1000},
        "output_tokens": 90,
        "output_tokens_details": {"reasoning_tokens": 60},
        "total_tokens": 1290,
    },
    "messages": {
        "input_tokens": 150,
        "cache_creation_input_tokens": 50,
        "cache_read_input_tokens": 1000,
        "output_tokens": 90,
        "output_tokens_details": {"thinking_tokens": 60},
    },
    "generate_content": {
        "promptTokenCount": 1200,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 60,
        "cachedContentTokenCount": 1000,
        "totalTokenCount": 1290,
    },
}
"""The same usage in the format of each vendor."""

CHARGED = (1200, 90, 1000, 60, "upstream", 200 * 2_500 + 1000 * 1_250 + 90 * 10_000)


def charged(row: Row) -> tuple[object, ...]:
    names = ("input", "output", "cached", "reasoning", "source", "cost")
    return tuple(row[name] for name in names)


def with_usage(language: str, text: bytes) -> bytes:
    """A vendor's answer or event with the usage above, where it reports one."""
    head, mark, data = text.rpartition(b"data: ")
    if b'"usage' not in data and b'"usageMetadata' not in data:
        return text
    document = json.loads(data)
    usage = USAGE[language]
    if language == "generate_content":
        document["usageMetadata"] = usage
    elif language == "responses" and "response" in document:
        if document["response"]["usage"] is not None:
            document["response"]["usage"] = usage
    elif language == "messages" and "message" in document:
        document["message"]["usage"] = {**usage, "output_tokens": 1}
    elif document.get("usage") is not None:
        document["usage"] = usage
    return head + mark + json.dumps(document).encode() + (b"\n\n" if mark else b"")
