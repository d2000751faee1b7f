"""The types, items and properties of a schema, through references and unions.

`resolve(schema)` returns the target of the schema's `$ref`; without one, the same object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeVar

from engine.spec.document.schema_keywords import ANNOTATIONS
from engine.values.media_types import is_json

Resolve = Callable[[Any], Any]
Kind = Literal["array", "object", "primitive"]
Part = TypeVar("Part")

_MAX_NESTING: Final = 32
MAX_NODES: Final = 2000
ANYTHING: Final[Mapping[str, Any]] = {}
_NOTHING: Final[Mapping[str, Any]] = {"enum": []}
# "any" marks a schema that names no type: every text stays text.
_ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object", "any"})
_NUMERIC = frozenset({"integer", "number"})
# The keywords beside a `$ref`, until `reference_siblings` moves it, that concern types.
_TYPE_KEYWORDS = re.compile(
    "type|nullable|enum|const|(all|any|one)Of|(prefixI|i)tems|(additionalP|p)roperties|format"
    "|content(MediaType|Encoding)|readOnly|writeOnly"
)


def types_of(schema: object, resolve: Resolve) -> frozenset[str]:
    """The JSON types that `schema` accepts, with "any" if it names none.

    `enum` and `const` name the types of their values; `number` includes `integer`.
    """
    types = _types(schema, resolve, frozenset(), iter(range(MAX_NODES)))
    return _ALL if types is None else types


def kind_of(schema: object, resolve: Resolve) -> Kind:
    """Whether values have items, properties or neither; "array" if `schema` allows several."""
    types = types_of(schema, resolve)
    if "any" in types:
        nodes = branches(schema, resolve)
        declared = [names for names in map(_declared_types, nodes) if "any" not in names]
        types = frozenset[str]().union(_implied_types(nodes), *declared)
    if "array" in types:
        return "array"
    return "object" if "object" in types else "primitive"


def items_of(schema: object, resolve: Resolve) -> object:
    """The schema of the items in the first branch that has one; `{}` if none has."""
    for node in branches(schema, resolve):
        items = node.get("items", True)
        alternatives = [*_list(node, "prefixItems"), *_list(node, "items")]
        if alternatives:
            return {"anyOf": alternatives}
        if items is not True:
            return items
    return ANYTHING


def properties_of(schema: object, resolve: Resolve) -> dict[str, object]:
    """The declared properties and their schemas, from every branch of `schema`."""
    return _properties(schema, resolve, frozenset(), iter(range(MAX_NODES)))


def extra_of(schema: object, resolve: Resolve) -> object:
    """The schema of undeclared properties; `{}` if there is none."""
    for node in branches(schema, resolve):
        if isinstance(extra := node.get("additionalProperties"), Mapping):
            return extra
    return ANYTHING


def branches(schema: object, resolve: Resolve) -> list[Mapping[str, Any]]:
    """`schema` and all branches of its `allOf`, `anyOf` and `oneOf`, with references followed."""
    nodes: dict[int, Mapping[str, Any]] = {}
    queue: list[object] = [schema]
    for branch in queue:
        node = node_of(branch, resolve)
        if id(node) not in nodes and len(nodes) < MAX_NODES:
            nodes[id(node)] = node
            queue += [sub for word in ("allOf", "anyOf", "oneOf") for sub in _list(node, word)]
    return list(nodes.values())


def is_file(schema: object, resolve: Resolve) -> bool:
    """Whether a schema describes the content of a file: binary, or with a media type."""
    return any(
        node.get("format") == "binary"
        or ("contentEncoding" not in node and _is_opaque(node.get("contentMediaType")))
        for node in branches(schema, resolve)
    )


def is_marked(schema: object, keyword: str, resolve: Resolve) -> bool:
    """Whether a schema has `readOnly: true` or `writeOnly: true`, `keyword`: itself, in a branch of
    its `allOf`, or in every branch of its `anyOf` or `oneOf`."""
    return _is_marked(schema, keyword, resolve, iter(range(MAX_NODES)))


def _is_marked(schema: object, keyword: str, resolve: Resolve, visits: Iterator[int]) -> bool:
    if next(visits, None) is None:
        return False
    node = node_of(schema, resolve)
    if node.get(keyword) is True:
        return True

    def marked(branch: object) -> bool:
        return _is_marked(branch, keyword, resolve, visits)

    return any(map(marked, _list(node, "allOf"))) or any(
        all(map(marked, branches)) for word in ("anyOf", "oneOf") if (branches := _list(node, word))
    )


def takes_any_bytes(schema: object, resolve: Resolve) -> bool:
    """Whether a schema accepts bodies of every media type: it is a file, or has no constraints."""
    return is_file(schema, resolve) or _constraints(schema, resolve) == set()


def takes_any_text(schema: object, resolve: Resolve) -> bool:
    """Whether a schema accepts every text. `format: byte` is meant for raw bytes where it describes
    a complete text: a body is what it is, and only text in JSON needs base64."""
    if takes_any_bytes(schema, resolve):
        return True
    words = _constraints(schema, resolve)
    if "format" in words and all(
        node.get("format") in (None, "byte") for node in branches(schema, resolve)
    ):
        words -= {"format", "allOf"}
    return words == {"type"} and "string" in types_of(schema, resolve)


def _constraints(schema: object, resolve: Resolve) -> set[str]:
    """The keywords of a schema and its branches that can refuse a value."""
    words = {word for node in branches(schema, resolve) for word in node}
    return {word for word in words - ANNOTATIONS if not word.startswith("x-")}


def _is_opaque(media_type: object) -> bool:
    return (
        isinstance(media_type, str)
        and not media_type.lower().startswith("text/")
        and not is_json(media_type)
    )


def _types(
    schema: object, resolve: Resolve, ancestors: frozenset[int], visits: Iterator[int]
) -> frozenset[str] | None:
    """As `types_of`; None for a schema within itself, which adds nothing.

    `visits` bounds the walk: a few schemas that refer to each other can have billions of branches.
    """
    node = node_of(schema, resolve)
    if id(node) in ancestors or len(ancestors) >= _MAX_NESTING or next(visits, None) is None:
        return None
    ancestors |= {id(node)}
    types = _declared_types(node)
    for sub in _list(node, "allOf"):
        branch_types = _types(sub, resolve, ancestors, visits)
        types = types if branch_types is None else types & branch_types
    for word in ("anyOf", "oneOf"):
        branches_types = [_types(sub, resolve, ancestors, visits) for sub in _list(node, word)]
        if known_types := [types_ for types_ in branches_types if types_ is not None]:
            types &= frozenset[str]().union(*known_types)
    return types | {"null"} if node.get("nullable") is True else types


def _declared_types(node: Mapping[str, Any]) -> frozenset[str]:
    types, declared = _ALL, node.get("type")
    if declared is not None:
        names = declared if isinstance(declared, list) else [declared]
        types = frozenset(filter(_is_text, names)) | (
            _NUMERIC if "number" in names else frozenset()
        )
    if "const" in node or isinstance(node.get("enum"), list):
        values = [node["const"]] if "const" in node else node["enum"]
        types &= frozenset[str]().union(*map(types_of_value, values))
    return types


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def types_of_value(value: object) -> frozenset[str]:
    """The JSON types of a value; a whole number is also an integer."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        return _NUMERIC if value == value // 1 else frozenset({"number"})
    names = {str: "string", list: "array", dict: "object", type(None): "null"}
    return frozenset({names.get(type(value), "string")})


def _implied_types(nodes: list[Mapping[str, object]]) -> frozenset[str]:
    """The types that keywords imply if no type is named."""
    words = frozenset[str]().union(*nodes)
    array = {"array"} if words & {"items", "prefixItems"} else set()
    return frozenset(
        array | ({"object"} if words & {"properties", "additionalProperties"} else set())
    )


def _properties(
    schema: object, resolve: Resolve, ancestors: frozenset[int], visits: Iterator[int]
) -> dict[str, object]:
    node = node_of(schema, resolve)
    if id(node) in ancestors or len(ancestors) >= _MAX_NESTING or next(visits, None) is None:
        return {}
    ancestors |= {id(node)}
    properties = node.get("properties")
    merged = dict(properties) if isinstance(properties, Mapping) else {}
    for sub in _list(node, "allOf"):
        _merge(merged, "allOf", _properties(sub, resolve, ancestors, visits))
    for word in ("anyOf", "oneOf"):
        alternatives: dict[str, object] = {}
        for sub in _list(node, word):
            _merge(alternatives, "anyOf", _properties(sub, resolve, ancestors, visits))
        _merge(merged, "allOf", alternatives)
    return merged


def _merge(into: dict[str, object], word: str, more: Mapping[str, object]) -> None:
    for name, schema in more.items():
        first = into.setdefault(name, schema)
        if first is not schema:
            into[name] = {word: [first, schema]}


def node_of(schema: object, resolve: Resolve) -> Mapping[str, object]:
    """The keywords of `schema`, with references followed."""
    for _ in range(_MAX_NESTING):
        if not isinstance(schema, Mapping):
            return _NOTHING if schema is False else ANYTHING
        if "$ref" not in schema:
            return schema
        target = resolve(schema)
        if siblings := {
            word: value for word, value in schema.items() if _TYPE_KEYWORDS.fullmatch(word)
        }:
            return {**siblings, "allOf": [target, *_list(siblings, "allOf")]}
        schema = target
    return ANYTHING


def _list(node: Mapping[str, object], word: str) -> list[Any]:
    value = node.get(word)
    return value if isinstance(value, list) else []


def compile_parts(
    schema: object,
    resolve: Resolve,
    make: Callable[[], Part],
    fill: Callable[[Part, Mapping[str, object], Callable[[object], Part]], None],
) -> Part:
    """Compile `schema` and all its subschemas, each to one part, and return the part of `schema`.

    `make` creates the part of a schema; `fill(part, node, part_of)` completes it with the schema's
    node, where `part_of` returns the part of a subschema. A part that keeps no node lets the
    document be freed. Recursive schemas become recursive parts; beyond MAX_NODES, schemas accept
    any value.
    """
    parts: dict[int, Part] = {}
    queue: list[tuple[Part, Mapping[str, object]]] = []  # keeps the nodes alive, for their `id()`

    def part_of(schema: object) -> Part:
        node = node_of(schema, resolve) if len(parts) < MAX_NODES else ANYTHING
        if id(node) not in parts:
            parts[id(node)] = make()
            queue.append((parts[id(node)], node))
        return parts[id(node)]

    top = part_of(schema)
    for part, node in queue:
        fill(part, node, part_of)
    return top
