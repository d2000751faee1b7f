"""The example answers of an operation: which one a request gets, and how it is filled in.

Placeholders: `{{text}}` is what the caller's last user message said, `{{model}}`, `{{now}}`,
`{{id}}`, `{{input_tokens}}`, `{{output_tokens}}`, `{{total_tokens}}`. A string that is just one
placeholder takes the value's own type. What holds `{{word}}` is repeated for each word of the text;
`{{n}}` counts events; an event that begins with the comment `: if usage` is sent only when
`stream_options.include_usage` asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from engine.mock.invent import invent
from engine.spec.document.node import Node
from engine.spec.media_types import is_json

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_WORD = re.compile(r"\s*\S+\s*")
_IF_USAGE = ": if usage\n"


@dataclass(frozen=True, slots=True)
class Example:
    """One answer of a document: `name` is the example's own, `value` None where it has none."""

    status: int
    media_type: str
    name: str
    value: Any


def examples(operation: Node) -> list[Example]:
    """Every example of an operation's successful answers, in the document's order."""
    found = []
    for status, response in operation.get("responses").items():
        if not status.startswith("2"):
            continue
        code = int(status) if status.isdigit() else 200
        for media_type, media in response.get("content").items():
            named = [(n, e.value.get("value")) for n, e in media.get("examples").items()]
            schema = media.get("schema")
            inner = schema.value.get("example") if isinstance(schema.value, dict) else None
            value = media.value.get("example", inner)
            if value is None and not named and is_json(media_type):
                value = invent(schema)
            found += [Example(code, media_type, n, v) for n, v in named or [("", value)]]
        if not response.get("content").value:
            found.append(Example(code, "", "", None))
    return found or [Example(200, "", "", None)]


def choose(candidates: Sequence[Example], request: Any, query: str) -> Example:
    """The example a request asks for: a stream, one named like a field's value, or the first."""
    fields = request if isinstance(request, dict) else {}
    streams = [e for e in candidates if e.media_type == "text/event-stream"]
    still = [e for e in candidates if e.media_type != "text/event-stream"]
    wants_stream = fields.get("stream") is True or fields.get("stream_format") == "sse"
    wants_stream = wants_stream or "alt=sse" in query.split("&")
    offered = streams if streams and (wants_stream or not still) else still
    said = {value for value in fields.values() if isinstance(value, str)}
    for example in offered:
        kind = example.media_type.partition("/")[2]
        if example.name in said or (kind in said and kind != "json"):
            return example
    return offered[0]


def said_last(request: Any) -> str:
    """The text of the caller's last turn, whatever the API calls it; "" if there is none."""
    if not isinstance(request, dict):
        return ""
    for key in ("messages", "contents", "input", "prompt", "query"):
        if key in request:
            turns = request[key] if isinstance(request[key], list) else [request[key]]
            users = [t for t in turns if not isinstance(t, dict) or _is_user(t)]
            return _text(users[-1]) if users else ""
    return ""


def _is_user(turn: dict[str, Any]) -> bool:
    return bool(turn.get("role", "user") == "user")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(filter(None, (_text(item) for item in value)))
    if isinstance(value, dict):
        for key in ("text", "content", "parts"):
            if key in value:
                return _text(value[key])
    return ""


def words(text: str) -> list[str]:
    """The words of a text, each with the space after it, so that joined they are the text."""
    return _WORD.findall(text) or [text]


def events(value: str, facts: Mapping[str, Any], usage: bool) -> Iterator[bytes]:
    """The events of a stream's example, filled in."""
    count = 0
    for block in re.split(r"\n\n+", value.strip("\n")):
        if block.startswith(_IF_USAGE):
            if not usage:
                continue
            block = block.removeprefix(_IF_USAGE)
        for word in words(facts["text"]) if "{{word}}" in block else [""]:
            filled = _in_json_text(block, {**facts, "word": word, "n": count})
            count += 1
            yield filled.encode() + b"\n\n"


def elements(value: list[Any], facts: Mapping[str, Any]) -> Iterator[bytes]:
    """A JSON array's example, element by element, as it is streamed."""
    lead = b"["
    for element in value:
        repeated = "{{word}}" in orjson.dumps(element).decode()
        for word in words(facts["text"]) if repeated else [""]:
            yield lead + orjson.dumps(fill(element, {**facts, "word": word}))
            lead = b",\r\n"
    yield b"]" if value else b"[]"


def fill(value: Any, facts: Mapping[str, Any]) -> Any:
    """A structured example with its placeholders filled in."""
    if isinstance(value, dict):
        return {key: fill(below, facts) for key, below in value.items()}
    if isinstance(value, list):
        return [fill(below, facts) for below in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole is not None and whole[1] in facts:
        return facts[whole[1]]
    return _PLACEHOLDER.sub(lambda match: str(facts.get(match[1], match[0])), value)


def _in_json_text(text: str, facts: Mapping[str, Any]) -> str:
    def written(match: re.Match[str]) -> str:
        value = facts.get(match[1], match[0])
        return orjson.dumps(value).decode()[1:-1] if isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(written, text)
