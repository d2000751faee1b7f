"""Decoded texts to a whole value: lists, objects and what is nested in them, cast by a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.spec.bracket_names import Tree
from engine.spec.casting import (
    Kind,
    Resolve,
    compile_cast,
    extra_of,
    items_of,
    kind_of,
    properties_of,
)
from engine.spec.recursive_schema import compile_parts
from engine.values.errors import Malformed

MAX_INDEX: Final = 1000
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})?")


ReadLeaf = Callable[[Any], object]


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
    Raises Malformed for an index of 1000 or more. Recursive schemas end in themselves.
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
            return [] if tree == [""] else [self._one(leaf, self.item) for leaf in tree]
        return self._one(tree[0], self) if len(tree) == 1 else [self._one(x, self) for x in tree]

    def _one(self, leaf: Any, nested: _Shape) -> object:
        return nested.read(leaf) if isinstance(leaf, dict) else self.leaf(leaf)

    def _by_index(self, tree: dict[str, Tree]) -> list[object]:
        indexes = sorted(int(key) for key in tree if key)
        if indexes and indexes[-1] >= MAX_INDEX:
            raise Malformed(f"the index [{indexes[-1]}] is not below {MAX_INDEX}")
        items: list[Tree] = [tree[str(index)] for index in indexes]
        items += [item if isinstance(item, dict) else [item] for item in tree.get("", [])]
        return [self.item.read(item) for item in items]
