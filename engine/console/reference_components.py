"""Copies parts of several documents into one, with references rewritten, names made unique, and the
placeholders of the mock in examples filled with fixed values."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.spec.document.styles import SWAGGER_STYLES
from engine.values.trees import Json

_LITERALS = frozenset({"default", "const", "enum"})
_MAPS = frozenset({"parameters", "responses", "examples", "headers", "links", "callbacks"})
_INVALID = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_VALUES: dict[str, str | float] = {
    "text": "Air scatters blue light more than red.",
    "word": "Air scatters blue light more than red.",
    "model": "the-model",
    "id": "4f1c9a70d2e84b3f",
    "now": 1_767_225_600,
    "input_tokens": 24,
    "output_tokens": 9,
    "total_tokens": 33,
    "item": 0,
    "item_text": "A small wild dog",
    "item_score": 0.98,
}
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_MOCK_CONDITION = re.compile(r"^: if \w+\n", re.MULTILINE)


class _Context(NamedTuple):
    """The context of a copy: its document, the kind of component that a reference here names,
    whether the keys of a mapping are names, and whether it is a schema."""

    spec: str
    kind: str = ""
    names: bool = False
    schema: bool = False


@dataclass(slots=True)
class Components:
    """The `components` of the new document. Copying a part adds the components that it refers
    to, one after another: in one document each of hundreds of schemas refers to the next."""

    components: dict[str, Json] = field(default_factory=dict)
    _pending: deque[tuple[Json, str, Node, _Context]] = field(default_factory=deque)
    _references: dict[tuple[FilePath, Path], str] = field(default_factory=dict)
    _rewritten: dict[tuple[str, FilePath, str, str], str] = field(default_factory=dict)

    def copy(self, node: Node, spec: str) -> Any:
        """A copy of an operation or a parameter, with its references rewritten."""
        copied = self._copy(node.value, node, _Context(spec))
        while self._pending:
            components, name, target, context = self._pending.popleft()
            components[name] = self._copy(target.value, target, context)
        return copied

    def _copy(self, value: object, node: Node, context: _Context) -> object:
        if isinstance(value, list):
            inner = context if context.kind or context.schema else _Context(context.spec)
            return [self._copy(item, node, inner) for item in value]
        if not isinstance(value, dict):
            return value
        if not (context.names or context.schema) and value.get("style") in SWAGGER_STYLES:
            value = _with_style_of_3(value)
        ref = value.get("$ref")
        if isinstance(ref, str) and not context.names:
            value = {**value, "$ref": self._rewrite(ref, node, context)}
        copied = {
            str(key): item
            if key == "$ref" and not context.names
            else self._copy_member(str(key), item, node, context)
            for key, item in value.items()
            if not _is_left_out(str(key), item, context)
        }
        if context.schema and not context.names:
            version = str(node.library.document.value.get("openapi", ""))
            return _convert_3_0(copied) if version.startswith("3.0") else copied
        return copied

    def _copy_member(self, key: str, value: object, node: Node, context: _Context) -> object:
        if context.names:
            return self._copy(
                value, node, _Context(context.spec, context.kind, schema=context.schema)
            )
        if key == "example" or (key in ("value", "dataValue") and not context.schema):
            return fill_example(value)
        if key in _LITERALS or isinstance(value, str):
            return value
        if context.schema:
            if key == "examples":
                return value
            if key == "mapping" and isinstance(value, dict):
                return {
                    name: self._copy_mapping(str(to), node, context) for name, to in value.items()
                }
            return self._copy(
                value, node, _Context(context.spec, "schemas", key in _NAME_MAPS, True)
            )
        if key == "schema":
            return self._copy(value, node, _Context(context.spec, "schemas", schema=True))
        kind = "requestBodies" if key == "requestBody" else key if key in _MAPS else ""
        names = key in _MAPS and isinstance(value, dict)
        return self._copy(
            value, node, _Context(context.spec, kind, names or key in ("content", "encoding"))
        )

    def _copy_mapping(self, to: str, node: Node, context: _Context) -> str:
        """A discriminator's value: a reference, or the bare name of a schema."""
        ref = to if "/" in to or "#" in to else f"#/components/schemas/{to}"
        try:
            return self._rewrite(ref, node, context)
        except KeyError:
            return to

    def _rewrite(self, ref: str, node: Node, context: _Context) -> str:
        """The reference in the new document; its target is copied after the first reference."""
        key = (ref, node.uri, context.spec, context.kind)
        if key not in self._rewritten:  # thousands of operations refer to the same
            self._rewritten[key] = self._new_reference(ref, node, context)
        return self._rewritten[key]

    def _new_reference(self, ref: str, node: Node, context: _Context) -> str:
        reference_node = Node(node.library, node.uri, node.path, {"$ref": ref})
        target = reference_node.resolved()
        place = target.uri, target.path
        reference = self._references.get(place)
        if reference is None:
            kind = context.kind or "schemas"
            name = self._name(
                kind, str(target.path[-1] if target.path else context.spec), context.spec
            )
            reference = self._references[place] = f"#/components/{kind}/{name}"
            components = self.components.setdefault(kind, {})
            components[name] = {}  # reserved until the target is copied
            inner = _Context(context.spec, kind, schema=kind == "schemas")
            self._pending.append((components, name, target, inner))
        return reference

    def _name(self, kind: str, name: str, spec: str) -> str:
        names = self.components.get(kind, {})
        plain = _INVALID.sub("_", name) or "part"
        choices = (plain, f"{_INVALID.sub('_', spec)}.{plain}")
        for choice in choices:
            if choice not in names:
                return choice
        number = 2
        while f"{choices[1]}.{number}" in names:
            number += 1
        return f"{choices[1]}.{number}"


def _is_left_out(key: str, value: object, context: _Context) -> bool:
    """Whether a member is an extension that is for this program alone or has a reference. Among
    names only those of responses are extensions."""
    is_extension = key.startswith("x-") and (not context.names or context.kind == "responses")
    return is_extension and (key == SOURCE_PATTERN or _has_reference(value))


def _has_reference(value: object) -> bool:
    """Whether a `$ref` is anywhere in the content of an extension. Nothing resolves that: it need
    not have a target, and none in the new document."""
    if isinstance(value, list):
        return any(map(_has_reference, value))
    return isinstance(value, dict) and ("$ref" in value or any(map(_has_reference, value.values())))


def _with_style_of_3(value: Json) -> Json:
    """A parameter or encoding of Swagger 2.0 with the nearest style of OpenAPI 3, which has only
    one for headers and the most common one for paths."""
    if value.get("in") in ("path", "header"):
        return {key: member for key, member in value.items() if key != "style"}
    return {**value, "style": SWAGGER_STYLES[value["style"]]}


def _convert_3_0(schema: Json) -> Json:
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


def fill_example(example: object) -> object:
    """An example with its placeholders filled in. `{{n}}` counts from 0; unknown ones remain."""
    return _filled(example, itertools.count())


def _filled(value: object, numbers: Iterator[int]) -> object:
    if isinstance(value, dict):
        return {key: _filled(item, numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, numbers) for item in value]
    if not isinstance(value, str):
        return value
    match = _PLACEHOLDER.fullmatch(value)
    if match:
        return _value(match, numbers)
    return _PLACEHOLDER.sub(
        lambda match: str(_value(match, numbers)), _MOCK_CONDITION.sub("", value)
    )


def _value(match: re.Match[str], numbers: Iterator[int]) -> str | float:
    return next(numbers) if match[1] == "n" else _VALUES.get(match[1], match[0])
