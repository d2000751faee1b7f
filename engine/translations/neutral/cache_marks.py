"""Marks for the vendor's prompt cache: it caches the prompt up to and including a marked part.

Anthropic has `cache_control`, which gateways and their clients have also added to OpenAI's
languages; OpenAI has `prompt_cache_breakpoint`.
"""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.content import Block, CacheMark, Extra, Reasoning, ToolResult

CACHE_MARKS = ("*.cache_control", "*.prompt_cache_breakpoint")
"""Wildcards over the fields."""

_FORMS: dict[CacheMark, dict[str, str]] = {
    "5m": {"type": "ephemeral"},
    "1h": {"type": "ephemeral", "ttl": "1h"},
}


def mark(written: Any, cache: CacheMark) -> None:
    """Add `cache_control` to a part or a tool, unless its JSON is passed on unchanged (Raw)."""
    if cache and isinstance(written, dict):
        written["cache_control"] = _FORMS[cache]


def read_cache_mark(extra: Extra) -> CacheMark:
    """The mark of a part, by its unknown members; they stay, because only some targets have a form
    for the mark."""
    if (control := extra.get("cache_control")) is not None:
        return "1h" if b'"1h"' in bytes(control) else "5m"
    return "5m" if "prompt_cache_breakpoint" in extra else ""


def mark_of(block: Block) -> CacheMark:
    """The mark of a block. Thoughts have none; a result has that of its last marked content."""
    if block.cache:
        return "" if isinstance(block, Reasoning) else block.cache
    if isinstance(block, ToolResult):
        return next((each.cache for each in reversed(block.content) if each.cache), "")
    return ""
