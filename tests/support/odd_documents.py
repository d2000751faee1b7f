"""An OpenAPI document of two files, and random changes of it that documents in the wild have:
references to anything from anywhere, values of another type, deep nesting, circles."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OPERATION: dict[str, Any] = {
    "operationId": "put",
    "parameters": [
        {"$ref": "#/components/parameters/Id"},
        {"name": "q", "in": "query", "schema": {"type": "array", "items": {"type": "integer"}}},
        {
            "name": "h",
            "in": "header",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Item"},
                "examples": {
                    "e": {"value": {"name": "tea"}},
                    "f": {"$ref": "#/components/examples/F"},
                },
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"f": {"type": "string", "format": "binary"}},
                },
                "encoding": {"f": {"contentType": "image/png"}},
            },
        },
    },
    "responses": {
        "200": {
            "description": "ok",
            "headers": {"X-A": {"$ref": "#/components/headers/A"}},
            "links": {"l": {"operationId": "put"}},
            "content": {
                "application/json": {
                    "schema": {"$ref": "parts.json#/Answer"},
                    "example": {"item": {"name": "tea"}},
                }
            },
        },
        "default": {"$ref": "#/components/responses/Error"},
    },
    "callbacks": {"c": {"{$request.body#/url}": {"post": {"responses": {}}}}},
    "security": [{"key": []}],
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "https://example.com/{v}", "variables": {"v": {"default": "v1"}}}],
    "paths": {"/items/{id}": {"put": OPERATION}, "/same": {"$ref": "#/paths/~1items~1{id}"}},
    "components": {
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
        "headers": {"A": {"schema": {"type": "string"}}},
        "examples": {"F": {"value": {"name": "soup", "parts": [{"name": "salt"}]}}},
        "responses": {
            "Error": {"description": "e", "content": {"application/json": {"schema": {}}}}
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-key"}},
        "schemas": {
            "Item": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
                    "kind": {"$ref": "#/components/schemas/Kind"},
                },
                "additionalProperties": {"type": "string"},
            },
            "Kind": {
                "oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}],
                "discriminator": {"propertyName": "t", "mapping": {"a": "#/components/schemas/A"}},
            },
            "A": {"type": "object", "properties": {"t": {"const": "a"}}, "required": ["t"]},
            "B": {"allOf": [{"type": "object"}, {"properties": {"t": {"enum": ["b", None]}}}]},
        },
    },
}
PARTS = {
    "Answer": {
        "type": "object",
        "properties": {"item": {"$ref": "api.json#/components/schemas/Item"}},
    }
}
_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        10**30,
        1e308,
        "",
        "x",
        "\x00",
        "\ud800",
        "²",
        [],
        [None],
        {},
        {"": {}},
    ),
    *(
        [[]],
        {"$ref": None},
        {"$ref": {}},
        {"allOf": {}},
        {"type": 5},
        {"items": [{}]},
        "#/",
        "a" * 300,
    ),
    *(
        {"minItems": 10**9, "type": "array"},
        {"minLength": 10**12, "type": "string"},
        {"pattern": "("},
    ),
)
_POINTERS = ("", "#", "#/", "#/x/", "%zz", "\x00", "\ud800", "a" * 300, "..", "http://x/y", "#name")
_POINTERS_OUT = (
    "parts.json",
    "parts.json#/Answer",
    "api.json",
    "api.json#/paths",
    "file:///dev/null",
)
_MAX_DEPTH = 350


def write(folder: Path, document: Any, parts: Any = PARTS) -> None:
    """Write both files of a document."""
    for name, value in (("api.json", document), ("parts.json", parts)):
        (folder / name).write_text(json.dumps(value))


def odd_documents(seed: int) -> Iterator[tuple[Any, Any, str]]:
    """Endless changed documents: both files, and a description of the changes."""
    dice = random.Random(seed)
    while True:
        files = {"api": copy.deepcopy(DOCUMENT), "parts": copy.deepcopy(PARTS)}
        words = []
        for _ in range(dice.choice((1, 1, 2, 4))):
            name = dice.choice(("api", "api", "api", "parts"))
            words.append(f"{name}: {_change(files[name], dice)}")
        yield files["api"], files["parts"], "; ".join(words)


def _change(document: Any, dice: random.Random) -> str:
    places = list(_places(document, ()))
    at = dice.choice(places)
    holder = document
    for step in at[:-1]:
        holder = holder[step]
    old, new = holder[at[-1]], None
    kind = dice.choice(("value", "ref", "ref", "ref", "circle", "wrap", "deep", "copy", "name"))
    if kind == "value":
        new = copy.deepcopy(dice.choice(_VALUES))
    elif kind == "ref":
        pointers = (*_POINTERS, *_POINTERS_OUT, *[_pointer(dice.choice(places)) for _ in range(30)])
        new = {"$ref": dice.choice(pointers)}
    elif kind == "circle":
        new = {dice.choice(("allOf", "anyOf", "oneOf")): [old, {"$ref": _pointer(at)}]}
    elif kind == "wrap":
        new = {dice.choice(("not", "if", "items", "properties", "x")): old}
    elif kind == "deep":
        new = old
        for _ in range(dice.randrange(_MAX_DEPTH)):
            new = [new] if dice.random() < 0.1 else {"properties": {"a": new}}
    elif kind == "copy":
        source: Any = document
        for step in dice.choice(places):
            source = source[step]
        new = copy.deepcopy(source)
    elif kind == "name" and isinstance(holder, dict):
        new = old
        holder[dice.choice(("$ref", "allOf", "$dynamicRef", "\ud800", "", "example"))] = old
    holder[at[-1]] = new
    return f"{'.'.join(map(str, at))} {kind} {json.dumps(new)[:60]!r}"


def _places(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from _places(inner, (*at, key))


def _pointer(at: tuple[Any, ...]) -> str:
    return "#" + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in at)
