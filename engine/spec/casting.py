"""Text to value, as a JSON Schema would have it.

Parameters and form fields arrive as text while their schema speaks of numbers, lists and objects.
Here a schema is read once, at start-up, into functions that need no schema any more. They never
judge: text that fits none of the schema's types stays text, and the schema refuses it in its own
words.

`resolve(schema)` returns the schema with its `$ref` followed, or the very same object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

Resolve = Callable[[Any], Any]
Cast = Callable[[str], object]
Kind = Literal["array", "object", "primitive"]
Tree = list[str] | dict[str, "Tree"]

MAX_INDEX: Final = 1000
_MAX_DIGITS: Final = 400  # beyond any double, far below where int() turns quadratic or refuses
_MAX_NESTING: Final = 32
_MAX_NODES: Final = 2000
_ANYTHING: Final[Mapping[str, Any]] = {}
_NOTHING: Final[Mapping[str, Any]] = {"enum": []}
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})?")
# "any" marks a schema that names no type: it takes every text as it stands.
_ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object", "any"})
_NUMERIC = frozenset({"integer", "number"})
# The keywords beside a `$ref` (legal since 3.1) that say something about types.
_TELLING = re.compile(
    "type|nullable|enum|const|(all|any|one)Of|(prefixI|i)tems|(additionalP|p)roperties|format"
    "|content(MediaType|Encoding)"
)


class Malformed(ValueError):
    """Text that cannot be decoded at all; the message says what is wrong and where."""


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


def types_of(schema: object, resolve: Resolve) -> frozenset[str]:
    """The JSON types that `schema` lets through, and "any" among them if it names none.

    `enum` and `const` count as naming types, `number` as allowing `integer`.
    """
    found = _types(schema, resolve, frozenset())
    return _ALL if found is None else found


def kind_of(schema: object, resolve: Resolve) -> Kind:
    """Whether a value has items, properties or neither; a list if `schema` leaves the choice."""
    types = types_of(schema, resolve)
    if "any" in types:
        nodes = branches(schema, resolve)
        typed = [own for own in map(_own_types, nodes) if "any" not in own]
        types = frozenset[str]().union(_hints(nodes), *typed)
    if "array" in types:
        return "array"
    return "object" if "object" in types else "primitive"


def items_of(schema: object, resolve: Resolve) -> object:
    """The schema of the items: of the first branch that has one, `{}` if none has."""
    for node in branches(schema, resolve):
        items = node.get("items", True)
        alternatives = [*_list(node, "prefixItems"), *_list(node, "items")]
        if alternatives:
            return {"anyOf": alternatives}
        if items is not True:
            return items
    return _ANYTHING


def properties_of(schema: object, resolve: Resolve) -> dict[str, object]:
    """The declared properties and their schemas, from every branch of `schema`."""
    return _properties(schema, resolve, frozenset())


def extra_of(schema: object, resolve: Resolve) -> object:
    """The schema of undeclared properties, `{}` where none is given."""
    for node in branches(schema, resolve):
        if isinstance(extra := node.get("additionalProperties"), Mapping):
            return extra
    return _ANYTHING


def branches(schema: object, resolve: Resolve) -> list[Mapping[str, Any]]:
    """`schema` and every schema that allOf, anyOf and oneOf reach from it, references followed."""
    found: dict[int, Mapping[str, Any]] = {}
    waiting: list[object] = [schema]
    for waited in waiting:
        node = _node(waited, resolve)
        if id(node) not in found and len(found) < _MAX_NODES:
            found[id(node)] = node
            waiting += [sub for word in ("allOf", "anyOf", "oneOf") for sub in _list(node, word)]
    return list(found.values())


def compile_shape(schema: object, resolve: Resolve) -> Callable[[Tree], object]:
    """The function from decoded texts to a value of `schema`.

    A list of texts is one value, or as many items: a single text of a non-array is cast alone, a
    repeated one becomes a list, so that the schema sees every text a second reader could pick.
    The list `[""]` is the empty array. A dict is an object, or an array by index (`""` appends).
    Raises Malformed for an index of 1000 or more. Recursive schemas end in themselves.
    """
    made: dict[int, _Shape] = {}
    waiting: list[_Shape] = []

    def shape_of(schema: object) -> _Shape:
        node = _node(schema, resolve) if len(made) < _MAX_NODES else _ANYTHING
        if id(node) not in made:
            made[id(node)] = _Shape(node)
            waiting.append(made[id(node)])
        return made[id(node)]

    top = shape_of(schema)
    for shape in waiting:
        shape.kind = kind_of(shape.node, resolve)
        shape.cast = compile_cast(shape.node, resolve)
        shape.item = shape_of(items_of(shape.node, resolve))
        shape.extra = shape_of(extra_of(shape.node, resolve))
        properties = properties_of(shape.node, resolve)
        shape.fields = {name: shape_of(sub) for name, sub in properties.items()}
    return top.read


class _Shape:
    """One schema of a compiled shape; a class, because recursive schemas point at themselves."""

    __slots__ = ("cast", "extra", "fields", "item", "kind", "node")
    kind: Kind
    cast: Cast
    item: _Shape
    extra: _Shape
    fields: dict[str, _Shape]

    def __init__(self, node: Mapping[str, Any]) -> None:
        self.node = node  # also keeps its id() from being given to another schema

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


def _types(schema: object, resolve: Resolve, above: frozenset[int]) -> frozenset[str] | None:
    """As types_of; None for a schema met inside itself, which has nothing to add."""
    node = _node(schema, resolve)
    if id(node) in above or len(above) >= _MAX_NESTING:
        return None
    above |= {id(node)}
    types = _own_types(node)
    for sub in _list(node, "allOf"):
        found = _types(sub, resolve, above)
        types = types if found is None else types & found
    for word in ("anyOf", "oneOf"):
        either = [_types(sub, resolve, above) for sub in _list(node, word)]
        if known := [found for found in either if found is not None]:
            types &= frozenset[str]().union(*known)
    return types | {"null"} if node.get("nullable") is True else types


def _own_types(node: Mapping[str, Any]) -> frozenset[str]:
    types, declared = _ALL, node.get("type")
    if declared is not None:
        names = declared if isinstance(declared, list) else [declared]
        types = frozenset(names) | (_NUMERIC if "number" in names else frozenset())
    if "const" in node or isinstance(node.get("enum"), list):
        values = [node["const"]] if "const" in node else node["enum"]
        types &= frozenset[str]().union(*map(_types_of_value, values))
    return types


def _types_of_value(value: object) -> frozenset[str]:
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        return _NUMERIC if value == value // 1 else frozenset({"number"})
    names = {str: "string", list: "array", dict: "object", type(None): "null"}
    return frozenset({names.get(type(value), "string")})


def _hints(nodes: list[Mapping[str, Any]]) -> frozenset[str]:
    """What keywords tell where no type is named."""
    words = frozenset[str]().union(*nodes)
    array = {"array"} if words & {"items", "prefixItems"} else set()
    return frozenset(
        array | ({"object"} if words & {"properties", "additionalProperties"} else set())
    )


def _properties(schema: object, resolve: Resolve, above: frozenset[int]) -> dict[str, object]:
    node = _node(schema, resolve)
    if id(node) in above or len(above) >= _MAX_NESTING:
        return {}
    above |= {id(node)}
    own = node.get("properties")
    merged = dict(own) if isinstance(own, Mapping) else {}
    for sub in _list(node, "allOf"):
        _merge(merged, "allOf", _properties(sub, resolve, above))
    for word in ("anyOf", "oneOf"):
        either: dict[str, object] = {}
        for sub in _list(node, word):
            _merge(either, "anyOf", _properties(sub, resolve, above))
        _merge(merged, "allOf", either)
    return merged


def _merge(into: dict[str, object], word: str, more: Mapping[str, object]) -> None:
    for name, schema in more.items():
        known = into.setdefault(name, schema)
        if known is not schema:
            into[name] = {word: [known, schema]}


def _node(schema: object, resolve: Resolve) -> Mapping[str, Any]:
    """The keywords of `schema` with its references followed."""
    for _ in range(_MAX_NESTING):
        if not isinstance(schema, Mapping):
            return _NOTHING if schema is False else _ANYTHING
        if "$ref" not in schema:
            return schema
        target = resolve(schema)
        if beside := {word: value for word, value in schema.items() if _TELLING.fullmatch(word)}:
            return {**beside, "allOf": [target, *_list(beside, "allOf")]}
        schema = target
    return _ANYTHING


def _list(node: Mapping[str, Any], word: str) -> list[Any]:
    value = node.get(word)
    return value if isinstance(value, list) else []
