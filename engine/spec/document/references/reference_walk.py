"""Every reference of a file or a part of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.source.problem import Path
from engine.spec.document.node import Library, Node
from engine.spec.document.schema_keywords import NAMING

_VALUES = frozenset({"value", "dataValue"})
_NOT_SCHEMA = frozenset({"example", "default", "const", "enum"})
_OF_DATA = _VALUES | _NOT_SCHEMA | {"examples"}
"""The keys under which data may be."""
_OBJECT_NAMES = frozenset({"examples", "links", "callbacks", "pathItems", "encoding"})
"""Keys of OpenAPI's objects, beside NAMING, whose values are mappings of names."""
_NESTED = (dict, list)


def all_references(library: Library, keywords: Sequence[str] = ("$ref",)) -> Iterator[Node]:
    """As `references`, in every file of a library and the extensions in them that references lead
    to."""
    for uri, path in [*((uri, ()) for uri in library.files), *library.extensions]:
        node = Node(library, uri, (), library.files[uri].value)
        for step in path:
            node = node.step(step)
        yield from references(node, keywords)


def references(node: Node, keywords: Sequence[str] = ("$ref",)) -> Iterator[Node]:
    """Every node with a `$ref`, or another of these keywords with a text, except inside examples,
    other literal values and extensions."""
    stack: list[tuple[Path, Any]] = [(node.path, node.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, list):
            stack += [
                ((*path, i), item) for i, item in enumerate(value) if isinstance(item, _NESTED)
            ]
        elif isinstance(value, dict):
            for keyword in keywords:
                if keyword in value and isinstance(value[keyword], str):
                    yield Node(node.library, node.uri, path, value)
                    break
            stack += [
                ((*path, key), child)
                for key, child in value.items()
                if isinstance(child, _NESTED)
                and not ((key in _OF_DATA or key[:2] == "x-") and _is_data(path, key, child))
            ]


def _is_data(path: Path, key: str, child: object) -> bool:
    """Whether a member of the mapping at a path is a literal value or an extension."""
    is_name = bool(path) and (
        path[-1] in NAMING or (path[-1] in _OBJECT_NAMES and path[-2:-1] != ("properties",))
    )
    return (
        (key in _NOT_SCHEMA and not is_name)
        or (key in _VALUES and len(path) > 1 and path[-2] == "examples")
        or (key == "examples" and not is_name and isinstance(child, list))
        or (key[:2] == "x-" and is_extension(path))
    )


def is_extension(path: Path) -> bool:
    """Whether a key that begins with `x-` is an extension in the mapping at a path: in mappings of
    names it is a name, but in those of paths and of an operation's responses."""
    if not path or path[-1] not in NAMING:
        return True
    return path[-1] == "paths" or (path[-1] == "responses" and "components" not in path)
