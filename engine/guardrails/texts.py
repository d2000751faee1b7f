"""The texts of JSON bodies that people or models have written, each with its place.

The law: of a request every string is a text, but for members that never have one (`_NO_TEXTS`): a
new member of an API is so judged before anybody has heard of it. What a program fills as it likes,
as the arguments of a tool, is judged whole. Of an answer, a text is every string that its dialect
counts as output; where a dialect counts none, every string as in a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.dialects.interface.usage import OutputMembers
from engine.exchange.exchange import Exchange
from engine.values.json_spans import JsonPath
from engine.values.trees import entries_of

MAX_DEPTH = 100
"""Levels of JSON below which no text is looked for: nothing else reads what is nested deeper."""

_NO_TEXTS = frozenset(
    {
        *("type", "role", "id", "object", "model", "status", "format", "detail", "encoding"),
        *("call_id", "tool_call_id", "tool_use_id", "item_id", "file_id", "container_id"),
        *("data", "mimeType", "mime_type", "media_type", "fileUri", "file_uri", "file_data"),
        *("bytes", "signature", "thoughtSignature", "thought_signature", "encrypted_content"),
        *("cache_control", "cachePoint", "redactedContent", "index"),
    }
)
"""Members whose strings are names, ids or encoded bytes."""

_FREE = frozenset({"input", "args", "arguments", "response", "output", "json", "parameters"})
"""Members whose objects have names that a program or a model has chosen."""

_DATA_URL = re.compile(r"data:[\w.+/;=-]*;base64,[A-Za-z0-9+/=_-]*+")
"""The URL of an image or another file (RFC 2397); what is not all of it base64 is a text."""


def request_texts(exchange: Exchange) -> dict[JsonPath, str]:
    """The texts of a request whose body was parsed, by their paths; a form has those of its
    fields. Those of the prompt come first."""
    body = exchange.content.value
    texts: dict[JsonPath, str] = {}
    if isinstance(body, dict):
        for member in exchange.dialect.prompt_members:
            if member in body:
                texts |= _strings(body[member], (member,), 0)
    return {**texts, **dict(_strings(body, (), 0))}


def _strings(
    value: Any, path: JsonPath, depth: int, *, is_free: bool = False
) -> Iterator[tuple[JsonPath, str]]:
    """The strings below a value; all of them where it `is_free`."""
    if isinstance(value, str):
        if value and _DATA_URL.fullmatch(value) is None:
            yield path, value
    elif depth < MAX_DEPTH:
        for step, below in entries_of(value):
            if is_free or step not in _NO_TEXTS or _is_plain(value, step):
                free = is_free or (step in _FREE and isinstance(below, dict))
                yield from _strings(below, (*path, step), depth + 1, is_free=free)


def _is_plain(value: Any, step: str | int) -> bool:
    """Whether the `data` of a document is its text as it is (`source: {type: text}` of Anthropic),
    and not in base64."""
    return step == "data" and isinstance(value, dict) and value.get("type") == "text"


def answer_texts(document: Any, output: OutputMembers | None) -> dict[JsonPath, str]:
    """The texts of the JSON of an answer, or of an event, by their paths. `output` are the members
    of output of its dialect, None if it counts none."""
    if output is None:
        return dict(_strings(document, (), 0))
    return dict(_outputs(document, (), 0, output, is_output=False))


def _outputs(
    value: Any, path: JsonPath, depth: int, output: OutputMembers, *, is_output: bool
) -> Iterator[tuple[JsonPath, str]]:
    """The strings of an answer below a value, which is output itself where it is in an object that
    the model has written."""
    if isinstance(value, str):
        is_output_member = bool(path) and (is_output or path[-1] in output.strings)
        if value and is_output_member:
            yield path, value
    elif depth < MAX_DEPTH:
        for step, below in entries_of(value):
            inside = is_output or (step in output.objects and isinstance(below, dict | list))
            yield from _outputs(below, (*path, step), depth + 1, output, is_output=inside)
