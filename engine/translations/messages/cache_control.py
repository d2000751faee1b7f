"""Marks for the prompt cache, as this vendor has them: at most four in a request."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.messages.answer_fields import Json

MOST_MARKS = 4


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
