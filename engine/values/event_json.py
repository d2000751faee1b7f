"""Server-sent events as bytes, and JSON in them and in other texts that may not be JSON.

An event may have megabytes: an image, or a whole answer. What searches a long one for two bytes, or
copies it, holds the event loop for milliseconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from engine.values.json_spans import STRING

_TYPE = re.compile(rb"event: (\w+[._][\w.]+)\n", re.ASCII)
_DATA = re.compile(rb"^data: (.*)", re.MULTILINE)

_BOM = b"\xef\xbb\xbf"
_NUMBERS = (b"NaN", b"Infinity")
_JOINT = re.compile(r"\}\s*+\{")
_BLANKS = re.compile(r"\s*+")
_DECODER = json.JSONDecoder()
_STRING_OR_NUMBER = re.compile(STRING + rb"?|NaN|-?Infinity", re.DOTALL)
"""A string may lack its end: a search that began again at each quotation mark in it would take the
square of its length."""


def json_or_none(text: bytes) -> Any:
    """The value of a JSON text, also of one that needs `amended_json`; None for any other text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        amended = amended_json(text)
        return None if amended == text else json_or_none(amended)


def json_object(text: bytes | bytearray) -> dict[str, Any]:
    """The JSON object of a text; an empty one for any other text."""
    value = json_or_none(bytes(text))
    return value if isinstance(value, dict) else {}


def amended_json(text: bytes) -> bytes:
    """A text that a reader of JSON has refused, without what JSON does not have and many readers
    accept: a byte order mark, as servers in .NET write it, and numbers that are none, as Python's
    `json` writes them, which become null."""
    text = text.lstrip(_BOM)  # all of them: no other value begins with one of these bytes
    if not any(each in text for each in _NUMBERS):
        return text
    return _STRING_OR_NUMBER.sub(lambda m: m[0] if m[0][:1] == b'"' else b"null", text)


def whole_object(text: str) -> str:
    """A text without what is behind a whole object and no other object: a brace too many, or the
    words that a model goes on with (https://github.com/vllm-project/vllm/issues/48975)."""
    first, rest = _first_object(text)
    return first if first and rest[:1] != "{" else text


def joined_objects(text: str) -> list[str]:
    """The texts of objects one behind the other, each once and without an empty one before others;
    the last may be the beginning of one. Any other text alone."""
    last_joint = max((joint.start() for joint in _JOINT.finditer(text)), default=-1)
    if last_joint < 0:
        return [text]
    objects, at = dict[str, None](), _next_place(text, 0)
    while at <= last_joint:
        end = _end_of_object(text, at)
        following = _next_place(text, end)
        if end == at or text[following : following + 1] != "{":
            return [text]
        objects[text[at:end]] = None
        at = following
    objects.pop("{}", None)
    return [*(objects | {text[at:]: None})]


def _next_place(text: str, start: int) -> int:
    """The place of the next character that is not white space."""
    return _BLANKS.match(text, start).end()  # type: ignore[union-attr]  # it matches everywhere


def _first_object(text: str) -> tuple[str, str]:
    """The text of an object that a text begins with, "" for none, and what is behind it."""
    text = text.lstrip()
    end = _end_of_object(text, 0)
    return text[:end], text[end:].lstrip()


def _end_of_object(text: str, start: int) -> int:
    """Where the object that begins at a place ends; `start` for none."""
    try:
        return _DECODER.raw_decode(text, start)[1] if text.startswith("{", start) else start
    except (ValueError, RecursionError):
        return start


def event_json(event: bytes) -> Any:
    """The JSON value of a clean event's data; None for data that is not JSON, like `[DONE]`. Some
    servers write its type only as the name of the event: it is added."""
    document = json_or_none(b"\n".join(_DATA.findall(event)))
    if isinstance(document, dict) and "type" not in document and (name := event_type(event)):
        document["type"] = name
    return document


def event_type(event: bytes) -> str:
    """The name of a clean event, if vendors have types of that form: `message_start`,
    `response.created`; else ""."""
    name = _TYPE.match(event)
    return "" if name is None else name[1].decode()


LONG_EVENT = 1_000_000
"""Bytes above which an event is long. No error has so many."""


def split_events(data: bytes) -> Iterator[bytes]:
    """The events one by one, each with its end; one alone is `data` itself."""
    start = 0
    for end in event_ends(data):
        yield data[start:end]
        start = end
    if start < len(data):
        yield data[start:]


def long_data(event: bytes) -> list[tuple[int, int]]:
    """Where the data of each line of a long event begins and ends, in lines that end in LF. A
    regular expression takes ten times as long for it."""
    spans, at = [], 0
    while at < len(event):
        end = event.find(b"\n", at)
        end = len(event) if end < 0 else end
        if event.startswith(b"data:", at):
            spans.append((at + 5 + (event[at + 5 : at + 6] == b" "), end))
        at = end + 1
    return spans


def count_events(data: bytes) -> int:
    """The number of complete events, some of which may be long."""
    return sum(1 for _ in event_ends(data))


def event_ends(data: bytes, at: int = 0) -> Iterator[int]:
    """Where each complete event ends, of which the first ends behind `at`. `bytes.find` is far
    quicker for one byte than for two."""
    while (at := data.find(b"\n", at) + 1) > 0:
        if data[at : at + 1] == b"\n":
            at += 1
            yield at
