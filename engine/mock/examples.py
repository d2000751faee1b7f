"""The example answers of an operation: which one a request gets, and its placeholders.

Placeholders: `{{text}}` is the last user message, `{{model}}`, `{{now}}`, `{{id}}`,
`{{input_tokens}}`, `{{output_tokens}}`, `{{total_tokens}}`. A string that is only a placeholder
takes the type of the value. An item of a list with `{{item}}`, its number, is repeated for each
document or input of the request, with `{{item_text}}` and a falling `{{item_score}}`. An event or
element with `{{word}}` is repeated for each word of the text; `{{n}}` counts events; an event that
begins with the comment `: if usage` is sent only if the request sets
`stream_options.include_usage`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from engine.mock.generated_values import invent
from engine.spec.document.node import Node
from engine.spec.document.path_items import example_value
from engine.values.media_types import essence, is_json, sequence_kind
from engine.values.trees import Json

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_WORD = re.compile(r"\s*\S+\s*")
_IF_USAGE = ": if usage\n"
_ITEM = b"{{item"
_ITEM_KEYS, _COUNT_KEYS = ("documents", "texts", "input", "requests"), ("top_n", "top_k")


class ExampleResponse(Struct, frozen=True):
    """One answer of a document. `name` is that of the example; `value` is None if it has none."""

    status: int
    media_type: str
    name: str
    value: Any


def examples(operation: Node) -> list[ExampleResponse]:
    """The examples of an operation's successful answers, in the order of the document."""
    candidates = []
    for status, response in operation.get("responses").items():
        if not status.startswith("2"):
            continue
        code = int(status) if status.isdigit() else 200
        for media_type, media in response.get("content").items():
            named_values = [(n, _value(e)) for n, e in media.get("examples").items()]
            schema = media.get("schema")
            inner = schema.value.get("example") if isinstance(schema.value, dict) else None
            value = media.value.get("example", inner)
            if value is None and not named_values:
                value = _invented(media_type, media)
            candidates += [
                ExampleResponse(code, media_type, n, v) for n, v in named_values or [("", value)]
            ]
        if not response.get("content").value:
            candidates.append(ExampleResponse(code, "", "", None))
    return candidates or [ExampleResponse(200, "", "", None)]


def _invented(media_type: str, media: Node) -> object:
    """A value that the schema allows; None for a media type that is neither JSON nor a sequence."""
    if is_json(media_type):
        return invent(media.get("schema"))
    is_sequence = sequence_kind(essence(media_type)) not in ("", "parts")
    return [invent(media.get("itemSchema"))] if is_sequence and media.has("itemSchema") else None


def _value(example: Node) -> Any:
    """The value of an entry of `examples`; a text that is already written as it is sent."""
    value = example_value(example).value
    return example.literal("serializedValue").value if value is None else value


def choose(candidates: Sequence[ExampleResponse], request: object, query: str) -> ExampleResponse:
    """The example for a request: of streams if it asks for one, the example whose name is the value
    of a field, else the first."""
    fields = request if isinstance(request, dict) else {}
    streams = [e for e in candidates if e.media_type == "text/event-stream"]
    plain_examples = [e for e in candidates if e.media_type != "text/event-stream"]
    wants_stream = fields.get("stream") is True or fields.get("stream_format") == "sse"
    wants_stream = wants_stream or not {"alt=sse", "stream=true"}.isdisjoint(query.split("&"))
    matching = streams if streams and (wants_stream or not plain_examples) else plain_examples
    texts = {value for value in fields.values() if isinstance(value, str)}
    for example in matching:
        kind = example.media_type.partition("/")[2]
        if example.name in texts or (kind in texts and kind != "json"):
            return example
    return matching[0]


def last_turn(request: object) -> str:
    """The text of the caller's last turn, in the members that several APIs use; "" if none."""
    if not isinstance(request, dict):
        return ""
    for key in ("messages", "contents", "input", "prompt", "query"):
        if key in request:
            turns = request[key] if isinstance(request[key], list) else [request[key]]
            users = [t for t in turns if not isinstance(t, dict) or _is_user(t)]
            return _text(users[-1]) if users else ""
    return ""


def item_texts(request: object) -> list[str]:
    """The texts of the documents or inputs of a request, as many as it wants answers for; a request
    without a list of them has one."""
    fields = request if isinstance(request, dict) else {}
    lists = (fields[key] for key in _ITEM_KEYS if isinstance(fields.get(key), list))
    items = next(lists, [last_turn(request)])
    if items and isinstance(items[0], int):
        return [""]  # the numbers of the tokens of one text
    counts = (fields[key] for key in _COUNT_KEYS if isinstance(fields.get(key), int))
    return [_text(item) for item in items[: next(counts, 0) or None]]


def _is_user(turn: Json) -> bool:
    return bool(turn.get("role", "user") == "user")


def _text(value: object) -> str:
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
    """The words of a text, each with the space around it, so that joined they are the text."""
    return _WORD.findall(text) or [text]


def events(value: str, values: Mapping[str, Any], usage: bool) -> Iterator[bytes]:
    """The events of an example stream, with their placeholders filled in."""
    count = 0
    for block in re.split(r"\n\n+", value.strip("\n")):
        if block.startswith(_IF_USAGE):
            if not usage:
                continue
            block = block.removeprefix(_IF_USAGE)
        for word in words(values["text"]) if "{{word}}" in block else [""]:
            event = _in_json_text(block, {**values, "word": word, "n": count})
            count += 1
            yield event.encode() + b"\n\n"


def elements(value: list[Any], values: Mapping[str, Any]) -> Iterator[bytes]:
    """The example of a streamed JSON array, element by element."""
    lead = b"["
    for element, facts in ((e, each) for e in value for each in _repetitions(e, values)):
        repeated = "{{word}}" in orjson.dumps(element).decode()
        for word in words(values["text"]) if repeated else [""]:
            yield lead + orjson.dumps(fill(element, {**facts, "word": word}))
            lead = b",\r\n"
    yield b"]" if value else b"[]"


def fill(value: Any, values: Mapping[str, object]) -> Any:
    """A JSON example with its placeholders filled in."""
    if isinstance(value, dict):
        return {key: fill(member, values) for key, member in value.items()}
    if isinstance(value, list):
        return [fill(item, each) for item in value for each in _repetitions(item, values)]
    if not isinstance(value, str):
        return value
    placeholder = _PLACEHOLDER.fullmatch(value)
    if placeholder is not None and placeholder[1] in values:
        return values[placeholder[1]]
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), value)


def _repetitions(item: object, values: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The values of each repetition of an item of a list; `values` have the texts of `items`."""
    texts = values.get("items")
    if texts is None or _ITEM not in orjson.dumps(item):
        yield values
        return
    for number, text in enumerate(texts):
        score = round(0.98 / (number + 1), 4)
        row = {"item": number, "item_text": text, "item_score": score, "items": None}
        yield {**values, **row}


def _in_json_text(text: str, values: Mapping[str, object]) -> str:
    def replacement(match: re.Match[str]) -> str:
        value = values.get(match[1], match[0])
        return orjson.dumps(value).decode()[1:-1] if isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(replacement, text)
