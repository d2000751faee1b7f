"""Casting of text to the types of a JSON Schema.

Parameters and form fields arrive as text, but their schemas have numbers, lists and objects. A
schema is compiled at start-up into functions that convert text. They do not validate: text that
fits none of the schema's types stays text, and the schema's validator refuses it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.process.loop_turn import paced
from engine.spec.document.schema_types import (
    Kind,
    Resolve,
    compile_parts,
    extra_of,
    items_of,
    kind_of,
    properties_of,
    types_of,
)
from engine.spec.parameters.bracket_names import Tree
from engine.values.errors import Malformed

Cast = Callable[[str], object]
ReadLeaf = Callable[[Any], object]
CompileLeaf = Callable[[Mapping[str, object]], ReadLeaf]

MAX_INDEX: Final = 1000
_MAX_DIGITS: Final = 400  # more than any double has; `int()` refuses more than 4300
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_WHOLE = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NESTED: Final = (dict, list)  # made once: `dict | list` costs each value
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})?")


def compile_cast(schema: object, resolve: Resolve) -> Cast:
    """A function that casts a text by `schema`; text that does not fit stays text.

    Integers are canonical decimals, also with a fraction of zeros, numbers JSON numbers, booleans
    `true` and `false`; where the schema allows no string, also as languages write them (`True` of
    Python), and `1` and `0` where it allows no number. `null` and the empty text become None if the
    schema allows null but no string. Without a type in the schema, every text stays text; with
    string among others, a text that fits no other type does.
    """
    types = types_of(schema, resolve)
    words: dict[str, object] = {}
    if "any" in types:
        return _as_is
    if "boolean" in types:
        words |= {"true": True, "false": False}
        if "string" not in types:
            words |= {"True": True, "TRUE": True, "False": False, "FALSE": False}
        if not types & {"string", "integer", "number"}:
            words |= {"1": True, "0": False}
    if "null" in types and "string" not in types:
        words |= {"null": None, "": None}
    parse = _number if "number" in types else _integer if "integer" in types else _as_is
    return (lambda text: words[text] if text in words else parse(text)) if words else parse


def _as_is(text: str) -> object:
    return text


def _integer(text: str) -> object:
    if len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    whole = _WHOLE.fullmatch(text)
    return int(whole[1]) if whole else text


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
    compile_leaf: CompileLeaf | None = None,
) -> Callable[[Tree], object]:
    """A function that makes a value of `schema` from a tree of leaves.

    Leaves are decoded texts, cast by their schema, or whatever the result of `compile_leaf` reads;
    `compile_leaf` gets the schema of the value, or of the array that has the leaf as an item.

    A list of leaves is an array, or a single value. If the schema is not an array, repeated leaves
    still become a list, so that the validator sees every value that another parser may choose.
    The list `[""]` is the empty array. A dict is an object, or an array by index (`""` appends).
    Raises Malformed for an index of 1000 or more. Schemas may be recursive.
    """

    def text_leaf(node: Mapping[str, object]) -> ReadLeaf:
        is_array = kind_of(node, resolve) == "array"
        return compile_cast(items_of(node, resolve) if is_array else node, resolve)

    leaf_reader = compile_leaf or text_leaf

    def fill(shape: _Shape, node: Mapping[str, Any], shape_of: Callable[[object], _Shape]) -> None:
        shape.kind = kind_of(node, resolve)
        shape.leaf = leaf_reader(node)
        shape.item = shape_of(items_of(node, resolve))
        shape.extra = shape_of(extra_of(node, resolve))
        properties = properties_of(node, resolve)
        shape.fields = {name: shape_of(sub) for name, sub in properties.items()}

    return compile_parts(schema, resolve, _Shape, fill).read


class _Shape:
    """A compiled schema; an object, so that recursive schemas can refer to themselves."""

    __slots__ = ("extra", "fields", "item", "kind", "leaf")
    kind: Kind
    leaf: ReadLeaf
    item: _Shape
    extra: _Shape
    fields: dict[str, _Shape]

    def read(self, tree: Tree) -> object:
        if isinstance(tree, dict):
            if self.kind != "object" and all(map(_INDEX.fullmatch, tree)):
                return self._by_index(tree)
            return {name: self.fields.get(name, self.extra).read(sub) for name, sub in tree.items()}
        if self.kind == "array":
            return [] if tree == [""] else [self._value(leaf, self.item) for leaf in paced(tree)]
        values = [self._value(leaf, self) for leaf in tree]
        return values[0] if len(values) == 1 else values

    def _value(self, leaf: object, nested: _Shape) -> object:
        return nested.read(leaf) if isinstance(leaf, _NESTED) else self.leaf(leaf)

    def _by_index(self, tree: dict[str, Tree]) -> list[object]:
        indexes = sorted(int(key) for key in tree if key)
        if indexes and indexes[-1] >= MAX_INDEX:
            raise Malformed(f"the index [{indexes[-1]}] is not below {MAX_INDEX}")
        items: list[Tree] = [tree[str(index)] for index in indexes]
        items += [item if isinstance(item, dict) else [item] for item in tree.get("", [])]
        return [self.item.read(item) for item in paced(items)]
