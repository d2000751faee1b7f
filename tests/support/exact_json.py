"""JSON trees that keep the text of numbers and of opaque values."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

OPAQUE = frozenset(
    (
        *("schema", "parameters", "input_schema", "parametersJsonSchema", "responseJsonSchema"),
        *("input", "args", "arguments", "response", "vendorMember"),
    )
)
"""Members whose values are passed on with the order of their keys."""

Tree = dict[str, Any] | list[Any] | str
"""An object, a list, or the JSON text of any other value."""


def read_tree(text: bytes | Raw) -> Any:
    """The tree of a JSON text."""
    first = bytes(text).lstrip()[:1]
    if first == b"{":
        members = msgspec.json.decode(text, type=dict[str, Raw])
        return {
            name: _text(raw) if name in OPAQUE and bytes(raw)[:1] == b"{" else read_tree(raw)
            for name, raw in members.items()
        }
    if first == b"[":
        return [read_tree(item) for item in msgspec.json.decode(text, type=list[Raw])]
    return _text(text)


def write_tree(tree: Any) -> bytes:
    """The JSON text of a tree."""
    return _write(tree).encode()


def _write(tree: Any) -> str:
    if isinstance(tree, dict):
        pairs = (f"{msgspec.json.encode(name).decode()}:{_write(v)}" for name, v in tree.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(_write, tree)) + "]"
    return str(tree)


def objects_of(tree: Any) -> list[dict[str, Any]]:
    """Every object of a tree, itself among them."""
    if isinstance(tree, dict):
        return [tree, *(each for value in tree.values() for each in objects_of(value))]
    if isinstance(tree, list):
        return [each for value in tree for each in objects_of(value)]
    return []


def _text(raw: bytes | Raw) -> str:
    return bytes(raw).decode()
