"""Decoded texts to a whole value: lists, objects and what is nested in them, cast by a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.errors import Malformed
from engine.spec.casting import (
    Cast,
    Kind,
    Resolve,
    compile_cast,
    extra_of,
    items_of,
    kind_of,
    properties_of,
)
from engine.spec.recursive import compile_parts

Tree = list[str] | dict[str, "Tree"]
MAX_INDEX: Final = 1000
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})?")


def compile_shape(schema: object, resolve: Resolve) -> Callable[[Tree], object]:
    """The function from decoded texts to a value of `schema`.

    A list of texts is one value, or as many items: a single text of a non-array is cast alone, a
    repeated one becomes a list, so that the schema sees every text a second reader could pick.
    The list `[""]` is the empty array. A dict is an object, or an array by index (`""` appends).
    Raises Malformed for an index of 1000 or more. Recursive schemas end in themselves.
    """

    def fill(shape: _Shape, shape_of: Callable[[object], _Shape]) -> None:
        shape.kind = kind_of(shape.node, resolve)
        shape.cast = compile_cast(shape.node, resolve)
        shape.item = shape_of(items_of(shape.node, resolve))
        shape.extra = shape_of(extra_of(shape.node, resolve))
        properties = properties_of(shape.node, resolve)
        shape.fields = {name: shape_of(sub) for name, sub in properties.items()}

    return compile_parts(schema, resolve, _Shape, fill).read


class _Shape:
    """One schema of a compiled shape; a class, because recursive schemas point at themselves."""

    __slots__ = ("cast", "extra", "fields", "item", "kind", "node")
    kind: Kind
    cast: Cast
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
            cast = self.item.cast
            return [] if tree == [""] else [cast(text) for text in tree]
        return self.cast(tree[0]) if len(tree) == 1 else [self.cast(text) for text in tree]

    def _by_index(self, tree: dict[str, Tree]) -> list[object]:
        indexes = sorted(int(key) for key in tree if key)
        if indexes and indexes[-1] >= MAX_INDEX:
            raise Malformed(f"the index [{indexes[-1]}] is not below {MAX_INDEX}")
        parts: list[Tree] = [tree[str(index)] for index in indexes]
        added = tree.get("", [])
        parts += [added] if isinstance(added, dict) else [[text] for text in added]
        return [self.item.read(part) for part in parts]
