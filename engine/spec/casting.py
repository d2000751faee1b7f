"""Text to value, as a JSON Schema would have it.

Parameters and form fields arrive as text while their schema speaks of numbers, lists and objects.
Here a schema is compiled once, at start-up, into functions that need no schema any more. They never
judge: text that fits none of the schema's types stays text, and the schema refuses it in its own
words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.spec.bracket_names import Tree
from engine.spec.schema_types import (
    Kind,
    Resolve,
    compile_parts,
    extra_of,
    items_of,
    kind_of,
    properties_of,
    types_of,
)
from engine.values.errors import Malformed

Cast = Callable[[str], object]
ReadLeaf = Callable[[Any], object]

MAX_INDEX: Final = 1000
_MAX_DIGITS: Final = 400  # beyond any double, far below where int() turns quadratic or refuses
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})?")


def compile_cast(schema: object, resolve: Resolve) -> Cast:
    """The function from one text to its value under `schema`; what does not fit stays text.

    Integers are canonical decimals, numbers JSON numbers, booleans `true` and `false`. `null` and
    the empty text are None where the schema allows null but no string. A schema without any type
    keeps the text; one that allows string among others keeps it if nothing else fits.
    """
    types = types_of(schema, resolve)
    words: dict[str, object] = {}
    if "any" in types:
        return _as_is
    if "boolean" in types:
        words |= {"true": True, "false": False}
    if "null" in types and "string" not in types:
        words |= {"null": None, "": None}
    parse = _number if "number" in types else _integer if "integer" in types else _as_is
    return (lambda text: words[text] if text in words else parse(text)) if words else parse


def _as_is(text: str) -> object:
    return text


def _integer(text: str) -> object:
    return int(text) if len(text) <= _MAX_DIGITS and _INTEGER.fullmatch(text) else text


def _number(text: str) -> object:
    if len(text) > _MAX_DIGITS or not _NUMBER.fullmatch(text):
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else text


def compile_shape(
    schema: object,
    resolve: Resolve,
    compile_leaf: Callable[[Mapping[str, Any]], ReadLeaf] | None = None,
) -> Callable[[Tree], object]:
    """The function from a tree of leaves to a value of `schema`.

    Leaves are decoded texts, cast by their schema, or what `compile_leaf` reads; it is given the
    schema of a value, or of the array that the leaf is an item of.

    A list of leaves is one value, or as many items: a single one of a non-array is read alone, a
    repeated one becomes a list, so that the schema sees every text a second reader could pick.
    The list `[""]` is the empty array. A dict is an object, or an array by index (`""` appends).
    Raises Malformed for an index of 1000 or more. Schemas may be recursive.
    """

    def text_leaf(node: Mapping[str, Any]) -> ReadLeaf:
        is_array = kind_of(node, resolve) == "array"
        return compile_cast(items_of(node, resolve) if is_array else node, resolve)

    compiled = compile_leaf or text_leaf

    def fill(shape: _Shape, shape_of: Callable[[object], _Shape]) -> None:
        shape.kind = kind_of(shape.node, resolve)
        shape.leaf = compiled(shape.node)
        shape.item = shape_of(items_of(shape.node, resolve))
        shape.extra = shape_of(extra_of(shape.node, resolve))
        properties = properties_of(shape.node, resolve)
        shape.fields = {name: shape_of(sub) for name, sub in properties.items()}

    return compile_parts(schema, resolve, _Shape, fill).read


class _Shape:
    """One schema of a compiled shape; a class, because recursive schemas point at themselves."""

    __slots__ = ("extra", "fields", "item", "kind", "leaf", "node")
    kind: Kind
    leaf: ReadLeaf
    item: _Shape
    extra: _Shape
    fields: dict[str, _Shape]

    def __init__(self, node: Mapping[str, Any]) -> None:
        self.node = node

    def read(self, tree: Tree) -> object:
        if isinstance(tree, dict):
            if self.kind != "object" and all(map(_INDEX.fullmatch, tree)):
                return self._by_index(tree)
            return {name: self.fields.get(name, self.extra).read(sub) for name, sub in tree.items()}
        if self.kind == "array":
            return [] if tree == [""] else [self._value(leaf, self.item) for leaf in tree]
        values = [self._value(leaf, self) for leaf in tree]
        return values[0] if len(values) == 1 else values

    def _value(self, leaf: Any, nested: _Shape) -> object:
        return nested.read(leaf) if isinstance(leaf, dict) else self.leaf(leaf)

    def _by_index(self, tree: dict[str, Tree]) -> list[object]:
        indexes = sorted(int(key) for key in tree if key)
        if indexes and indexes[-1] >= MAX_INDEX:
            raise Malformed(f"the index [{indexes[-1]}] is not below {MAX_INDEX}")
        items: list[Tree] = [tree[str(index)] for index in indexes]
        items += [item if isinstance(item, dict) else [item] for item in tree.get("", [])]
        return [self.item.read(item) for item in items]
