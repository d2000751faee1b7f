"""The kinds of requests that hardly anybody sends, and the document of those that have an operation
of their own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from benchmarks.stall.json_kinds import JSON_REQUESTS, PATHS
from benchmarks.stall.kind import CHAT, FORM, NOT_LARGE, Kind, dumped, small

_ENUM = [f"word-{number:05}" for number in range(50_000)]
_BRANCHES = [
    {"type": "object", "required": ["kind", f"b{n}"], "properties": {"kind": {"const": f"k{n}"}}}
    for n in range(200)
]
_ROW = {"type": "object", "properties": {"a": {"type": "integer"}}}
_BODY = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "pattern": "^([a-z]+ ?)*!?$"},
        "word": {"enum": _ENUM},
        "words": {"type": "array", "items": {"enum": _ENUM}},
        "rows": {"type": "array", "uniqueItems": True, "items": _ROW},
        "shapes": {"type": "array", "items": {"oneOf": _BRANCHES}},
    },
}
_FIELDS = {
    "type": "object",
    "properties": {
        "filter": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "object"}},
    },
}
_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def _operation(name: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "responses": {"200": {"description": "An answer."}}, **more}


def _content(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {kind: {"schema": schema} for kind, schema in schemas.items()}}


_QUERY = {
    "name": "filter",
    "in": "query",
    "style": "deepObject",
    "explode": True,
    "schema": {"type": "object"},
}
_PATTERNS = {"places": "a[ab]{0,200}[cd]", "looks": "(?=.*x)[a-z]+", "ways": r"^(a|aa)+(?!c)\1d$"}
"""Patterns that take long for a text: with many places, looking around at each, in many ways."""
_SLOW = [
    {"name": name, "in": "query", "schema": {"type": "string", "pattern": pattern}}
    for name, pattern in _PATTERNS.items()
]
_MIXED = "".join(random.Random(1).choices("ab", k=8_000))
_COOKIE = {"name": "a", "in": "cookie", "schema": {"type": "string"}}
_FORMS = _content(dict.fromkeys(_TYPES, _FIELDS))
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Odd", "version": "1"},
    "paths": {
        "/odd/body": {
            "post": _operation("body", requestBody=_content({"application/json": _BODY}))
        },
        "/odd/query": {"get": _operation("query", parameters=[_QUERY, _COOKIE, *_SLOW])},
        "/odd/form": {"post": _operation("form", requestBody=_FORMS)},
        **PATHS,
    },
}


def _json(name: str, value: Callable[[int], Any], *, size: int = NOT_LARGE) -> Callable[[], bytes]:
    """A body with a member as large as fits; `value` makes one of so many bytes."""
    return lambda: dumped({name: value(size - 20)})


def _times(item: Any) -> Callable[[int], Any]:
    return lambda size: [item] * (size // (len(json.dumps(item)) + 2))


def _rows(size: int) -> list[Any]:
    return [{"a": number} for number in range(size // 15)]


def _deep(wide: int) -> Callable[[], bytes]:
    """A chat with a member that is nested as deeply as the parser allows, and as wide there."""
    inner = b"{}" + b",{}" * wide
    depth = 1_000
    body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"metadata":%s}'
    return lambda: body % (b"[" * depth + inner + b"]" * depth)


def _numbers(size: int) -> Callable[[], bytes]:
    return lambda: b'{"model":"text-embedding-3-small","input":[%s1]}' % (b"1," * (size // 2))


def _fields(text: str, size: int = NOT_LARGE) -> Callable[[], bytes]:
    return lambda: (text * (size // len(text))).encode()


def _parts(count: int, name: str) -> Callable[[], bytes]:
    part = '--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n1\r\n'
    return lambda: (
        b"".join((part % name.replace("N", str(n))).encode() for n in range(count)) + b"--b--\r\n"
    )


_QUERY_TEXT = "&".join(f"filter[k{n}][{quote('é')}]=v" for n in range(250))

REQUESTS = (
    Kind("pattern of a long string", "/odd/body", _json("text", lambda n: "ab " * (n // 3)), "odd"),
    Kind("a value of a long enum", "/odd/body", lambda: dumped({"word": _ENUM[-1]}), "odd"),
    Kind("many values of a long enum", "/odd/body", _json("words", _times(_ENUM[-1])), "odd"),
    Kind("none of a long enum", "/odd/body", lambda: dumped({"word": "word"}), "odd", 400),
    Kind("unique items", "/odd/body", _json("rows", _rows), "odd"),
    Kind(
        "items of 200 alternatives",
        "/odd/body",
        _json("shapes", _times({"kind": "k9", "b9": 1})),
        "odd",
    ),
    Kind(
        "none of 200 alternatives", "/odd/body", _json("shapes", _times({"kind": "x"})), "odd", 400
    ),
    Kind("fields of a form", "/odd/form", _fields("list=1&"), "odd", 400, _TYPES[0]),
    Kind("10,000 fields of a form", "/odd/form", _fields("list=1&", 69_900), "odd", 200, _TYPES[0]),
    Kind(
        "brackets of a form", "/odd/form", _fields("rows[][a]=1&", 119_000), "odd", 200, _TYPES[0]
    ),
    Kind("1,000 parts of a form", "/odd/form", _parts(1_000, "filter[N]"), "odd", 200, FORM),
    Kind("100,000 parts of a form", "/odd/form", _parts(100_000, "list"), "odd", 400, FORM),
    Kind("a query at its limit", f"/odd/query?{_QUERY_TEXT}", bytes, "odd", method="GET"),
    Kind(
        "a pattern with many places", f"/odd/query?places={_MIXED}", bytes, "odd", 400, method="GET"
    ),
    Kind(
        "a pattern that looks around", f"/odd/query?looks={_MIXED}", bytes, "odd", 400, method="GET"
    ),
    Kind(
        "a pattern with many ways", f"/odd/query?ways={'a' * 30}", bytes, "odd", 400, method="GET"
    ),
    Kind("nested deeply, not large", CHAT, _deep(40_000), status=400),
    Kind("nested deeply, not large, judged", CHAT, _deep(40_000), "judged", 400),
    Kind("nested deeply, not large, guarded", CHAT, _deep(40_000), "guarded", 400),
    Kind("tiny numbers, not large", "/v1/embeddings", _numbers(NOT_LARGE)),
    Kind("tiny numbers", "/v1/embeddings", _numbers(20_000_000)),
)

ANSWERS = (
    Kind("answer: many headers", CHAT, small("gpt-headers"), status=502),
    Kind("answer: tiny chunks", CHAT, small("gpt-chunks")),
    Kind("answer: tiny chunks, edited", CHAT, small("gpt-chunks"), "judged"),
    Kind("answer: tiny pieces of events", CHAT, small("gpt-pieces", stream=True)),
    Kind("answer: tiny events", CHAT, small("gpt-tiny", stream=True)),
    Kind("answer: tiny events, edited", CHAT, small("gpt-tiny", stream=True), "judged"),
    Kind("answer: tiny events, guarded", CHAT, small("gpt-tiny", stream=True), "guarded"),
    Kind("answer: tiny events, translated", CHAT, small("claude-tiny", stream=True)),
    Kind("answer: pings first, translated", CHAT, small("claude-pings", stream=True)),
    Kind("answer: tiny items as events", CHAT, small("gpt-items", stream=True)),
    Kind("answer: many lines of an event", CHAT, small("gpt-lines", stream=True)),
    Kind("answer: words of errors", CHAT, small("gpt-errors", stream=True)),
    Kind("answer: tiny numbers, edited", CHAT, small("gpt-numbers"), "judged"),
    Kind("answer: nested deeply, edited", CHAT, small("gpt-deep"), "judged"),
    Kind("answer: nested deeply, guarded", CHAT, small("gpt-deep"), "guarded"),
    Kind("answer: gzip bomb, edited", CHAT, small("gpt-gzip"), "judged", 502),
    Kind("answer: gzip bomb, translated", CHAT, small("claude-gzip"), status=502),
)

ODD = (*REQUESTS, *JSON_REQUESTS, *ANSWERS)
