"""Marks for the prompt cache, as this vendor has them: at most four in a request."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.messages.answer_fields import Json
from engine.translations.neutral.content import Block, CacheMark, Reasoning, ToolResult

MOST_MARKS = 4


def mark_of(block: Block) -> CacheMark:
    """The mark that a block can have: thoughts have none, a result that of its last content."""
    if block.cache:
        return "" if isinstance(block, Reasoning) else block.cache
    if isinstance(block, ToolResult):
        return next((each.cache for each in reversed(block.content) if each.cache), "")
    return ""


def limit_marks(body: Json) -> None:
    """Leave the last four marks of a request, which cover what those before them do."""
    marked = [each for each in _markable(body) if "cache_control" in each]
    for each in marked[:-MOST_MARKS]:
        del each["cache_control"]


def _markable(body: Json) -> Iterator[Json]:
    """The written tools and blocks, in the order in which the vendor caches them."""
    contents = [body.get("tools"), body.get("system")]
    contents += [message["content"] for message in body["messages"]]
    for content in contents:
        if isinstance(content, list):
            yield from (each for each in content if isinstance(each, dict))
