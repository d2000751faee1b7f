"""The kinds of requests with JSON and schemas that hardly anybody writes, and the operations of the
schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks.stall.kind import CHAT, NOT_LARGE, Kind, dumped

_WIDE = 200


def _nested(depth: int) -> dict[str, Any]:
    """A schema in an `allOf` in an `allOf`, each with a member of its own."""
    schema: dict[str, Any] = {"type": "object"}
    for level in range(depth):
        member = {"properties": {f"m{level}": {"type": "integer"}}}
        schema = {"allOf": [schema, member]}
    return schema


_TREE = {
    "$id": "https://schemas.test/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
}
_MEMBERS = {f"m{number}": {"type": "integer"} for number in range(_WIDE)}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "ahead": {"properties": {"text": {"type": "string", "pattern": r"^(?=(\w+\s?)*$)(\w+\s?)*$"}}},
    "back": {"properties": {"text": {"type": "string", "pattern": r"^(.*)-\1$"}}},
    "distinct": {"properties": {"items": {"type": "array", "uniqueItems": True}}},
    "all": {"properties": {"items": {"type": "array", "items": _nested(100)}}},
    "tree": _TREE,
    "closed": {
        "anyOf": [{"properties": {name: schema}} for name, schema in _MEMBERS.items()],
        "properties": {"items": {"type": "array"}},
        "unevaluatedProperties": {"type": "integer"},
    },
    "names": {
        "propertyNames": {"pattern": "^[a-z0-9-]+$"},
        "patternProperties": {f"^x{number}-": {"type": "integer"} for number in range(_WIDE)},
    },
    "contains": {"properties": {"items": {"type": "array", "contains": {"const": "last"}}}},
    "steps": {"properties": {"items": {"type": "array", "items": {"multipleOf": 0.001}}}},
    "form": {"properties": {"text": {"type": "string", "format": "email"}}},
}


def _operation(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": {"type": "object", **schema}}}
    return {
        "post": {
            "operationId": f"schema-{name}",
            "requestBody": {"content": content},
            "responses": {"200": {"description": "An answer."}},
        }
    }


PATHS = {f"/odd/schema/{name}": _operation(name, schema) for name, schema in _SCHEMAS.items()}


def _kind(title: str, name: str, body: Callable[[], bytes], status: int = 200) -> Kind:
    return Kind(title, f"/odd/schema/{name}", body, "odd", status)


def _items(item: Callable[[int], Any], size: int = NOT_LARGE) -> Callable[[], bytes]:
    """An array of items that fit into so many bytes."""
    length = len(json.dumps(item(100_000))) + 2
    return lambda: dumped({"items": [item(number) for number in range(size // length)]})


def _text(text: str, end: str = "") -> Callable[[], bytes]:
    return lambda: dumped({"text": text * ((NOT_LARGE - 100) // len(text)) + end})


def _tree() -> bytes:
    depth = 400
    return b'{"children":[' * depth + b"{}," * 20_000 + b"{}" + b"]}" * depth


def _members(name: str, size: int = NOT_LARGE) -> Callable[[], bytes]:
    """An object with as many members as fit."""
    count = size // (len(name) + 12)
    return lambda: dumped({name.replace("N", str(number)): 1 for number in range(count)})


def _chat(member: bytes, size: int = NOT_LARGE) -> Callable[[], bytes]:
    """A chat with this again and again behind its messages."""
    head = b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]'
    return lambda: head + member * ((size - 100) // len(member)) + b"}"


def _with_models(size: int) -> Callable[[], bytes]:
    """A chat with tools, whose texts say "model" in quotation marks."""
    text = '"model": "gpt-4o", '
    tool = {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}
    message = {"role": "user", "content": text * (size // (len(json.dumps(text)) - 2))}
    body = {"model": "gpt-4o", "messages": [message], "tools": [tool]}
    return lambda: dumped(body)


JSON_REQUESTS = (
    _kind("pattern that looks ahead", "ahead", _text("ab ", "!"), 400),
    _kind("pattern that looks back", "back", _text("ab-"), 400),
    _kind("unique numbers", "distinct", _items(lambda n: n)),
    _kind("unique texts", "distinct", _items(lambda n: f"text-{n}")),
    _kind("unique lists", "distinct", _items(lambda n: [n, [n]])),
    _kind("unique numbers, large", "distinct", _items(lambda n: n, 1_000_000)),
    _kind("a hundred schemas in each other", "all", _items(lambda n: {"m1": 1, "m99": n})),
    _kind("a tree by $dynamicRef", "tree", _tree),
    _kind("members of 200 alternatives", "closed", _members("xN")),
    _kind("names of 200 patterns", "names", _members("xN-a")),
    _kind("a list that must contain", "contains", _items(lambda n: n), 400),
    _kind("multiples of a fraction", "steps", _items(lambda n: n / 1000)),
    _kind("a long text that is no address", "form", _text("a@", "b"), 400),
    Kind("huge numbers", CHAT, _chat(b',"a":1e999999'), status=400),
    Kind("an integer of 100,000 digits", CHAT, _chat(b',"seed":' + b"1" * 100_000), status=400),
    Kind("repeated members", CHAT, _chat(b',"a":1')),
    Kind("repeated members, judged", CHAT, _chat(b',"temperature":1'), "judged"),
    Kind("100,000 levels", CHAT, lambda: b'{"a":' + b"[" * 100_000, status=400),
    Kind("names of models, not large", CHAT, _with_models(NOT_LARGE * 4 // 5)),
    Kind("names of models", CHAT, _with_models(1_800_000)),
)
