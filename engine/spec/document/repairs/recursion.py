"""`$recursiveRef` and `$recursiveAnchor` of JSON Schema 2019-09, which 2020-12 does not have."""

from __future__ import annotations

from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Point a recursive reference at the nearest enclosing anchor."""
    value = schema.value
    if value.get("$recursiveRef") == "#" and (target := _anchor(schema.node)) is not None:
        del value["$recursiveRef"]
        pointer = Node(schema.node.library, schema.node.uri, target, None).pointer
        value["$ref"] = pointer if len(schema.node.library.files) > 1 else pointer[_hash(pointer) :]
        message = "'$recursiveRef' is of an older JSON Schema; it refers to the enclosing anchor"
        schema.warn("$recursiveRef", "MW227", message, "write a $ref to that schema")


def remove_anchors(schema: Schema) -> None:
    """Remove the anchors. Call it after every reference is repaired."""
    schema.value.pop("$recursiveAnchor", None)


def _hash(pointer: str) -> int:
    return pointer.index("#")


def _anchor(node: Node) -> Path | None:
    """The path of the innermost schema around `node` with `$recursiveAnchor: true`."""
    value = node.library.files[node.uri].value
    anchor: Path | None = None
    for depth, step in enumerate(node.path):
        try:
            value = value[step]
        except (KeyError, IndexError):  # another repair has moved it
            break
        if isinstance(value, dict) and value.get("$recursiveAnchor") is True:
            anchor = node.path[: depth + 1]
    return anchor


REPAIR = SchemaRepair(frozenset({"$recursiveRef", "$recursiveAnchor"}), _repair)
