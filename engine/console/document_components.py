"""Copies parts of several documents into one: references are rewritten, names made unique."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from engine.console.example_values import filled
from engine.spec.document.node import Node

_LITERAL = frozenset({"default", "const", "enum"})
_MAPS = frozenset({"parameters", "responses", "examples", "headers", "links", "callbacks"})
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


@dataclass(frozen=True, slots=True)
class _Context:
    """The place of a copy: its document, the kind of component that a reference here names, whether
    the keys of the mapping are names, and whether it is a schema."""

    spec: str
    kind: str = ""
    names: bool = False
    schema: bool = False


@dataclass(slots=True)
class Components:
    """The `components` of the new document, to which the parts that need them are copied."""

    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)

    def copy(self, node: Node, spec: str) -> Any:
        """A copy of a part of an operation that is neither a schema nor a reference."""
        return self._copy(node.value, node, _Context(spec))

    def _copy(self, value: Any, node: Node, at: _Context) -> Any:
        if isinstance(value, list):
            inner = at if at.kind or at.schema else _Context(at.spec)
            return [self._copy(item, node, inner) for item in value]
        if not isinstance(value, dict):
            return value
        ref = value.get("$ref")
        if isinstance(ref, str) and not at.names:
            value = {**value, "$ref": self._refer(ref, node, at)}
        copied = {
            str(key): item
            if key == "$ref" and not at.names
            else self._below(str(key), item, node, at)
            for key, item in value.items()
        }
        if at.schema and not at.names:
            return _newer(copied) if _is_old(node) else copied
        return copied

    def _below(self, key: str, value: Any, node: Node, at: _Context) -> Any:
        if at.names:
            return self._copy(value, node, _Context(at.spec, at.kind, schema=at.schema))
        if key == "example" or (key == "value" and not at.schema):
            return filled(value)
        if key in _LITERAL:
            return value
        if at.schema:
            if key == "examples":
                return value
            if key == "mapping" and isinstance(value, dict):
                return {name: self._mapped(str(to), node, at) for name, to in value.items()}
            return self._copy(value, node, _Context(at.spec, "schemas", key in _NAMED, True))
        if key == "schema":
            return self._copy(value, node, _Context(at.spec, "schemas", schema=True))
        kind = "requestBodies" if key == "requestBody" else key if key in _MAPS else ""
        names = key in _MAPS and isinstance(value, dict)
        return self._copy(
            value, node, _Context(at.spec, kind, names or key in ("content", "encoding"))
        )

    def _mapped(self, to: str, node: Node, at: _Context) -> str:
        """A discriminator's value: a reference, or the bare name of a schema."""
        ref = to if "/" in to or "#" in to else f"#/components/schemas/{to}"
        try:
            return self._refer(ref, node, at)
        except KeyError:
            return to

    def _refer(self, ref: str, node: Node, at: _Context) -> str:
        """The new reference to the target of `ref`, which is copied at its first reference."""
        holder = Node(node.library, node.uri, node.path, {"$ref": ref})
        target = holder.resolved()
        known = self._known.get(target.pointer)
        if known is None:
            kind = at.kind or "schemas"
            name = self._name(kind, str(target.path[-1] if target.path else at.spec), at.spec)
            known = self._known[target.pointer] = f"#/components/{kind}/{name}"
            below = self.components.setdefault(kind, {})
            below[name] = {}  # reserved, as the target may refer to itself
            below[name] = self._copy(
                target.value, target, _Context(at.spec, kind, schema=kind == "schemas")
            )
        return known

    def _name(self, kind: str, name: str, spec: str) -> str:
        names = self.components.get(kind, {})
        plain = _ODD.sub("_", name) or "part"
        choices = (plain, f"{_ODD.sub('_', spec)}.{plain}")
        for choice in choices:
            if choice not in names:
                return choice
        number = 2
        while f"{choices[1]}.{number}" in names:
            number += 1
        return f"{choices[1]}.{number}"


def _is_old(node: Node) -> bool:
    """Whether the part is of OpenAPI 3.0, whose schemas are not JSON Schema."""
    return str(node.library.document.value.get("openapi", "")).startswith("3.0")


def _newer(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of OpenAPI 3.0 converted to 3.1 (its "Migrating from 3.0" notes)."""
    converted = dict(schema)
    if converted.pop("nullable", False) is True and "type" in converted:
        kinds = converted["type"] if isinstance(converted["type"], list) else [converted["type"]]
        converted["type"] = [*kinds, "null"]
        if isinstance(converted.get("enum"), list) and None not in converted["enum"]:
            converted["enum"] = [*converted["enum"], None]
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if (
            isinstance(converted.get(exclusive), bool)
            and converted.pop(exclusive)
            and limit in converted
        ):
            converted[exclusive] = converted.pop(limit)
    return converted
