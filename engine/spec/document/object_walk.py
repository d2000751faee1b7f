"""The objects of OpenAPI in a document and the files it refers to, each with its kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.source.problem import Path
from engine.spec.document.node import Library, Node
from engine.spec.document.objects import OBJECTS


class WalkedObject(NamedTuple):
    """A mapping, and the name of its kind in `OBJECTS`. `is_target`: a reference leads to it."""

    node: Node
    kind: str
    is_target: bool


_Entry = tuple[FilePath, Path, Any, str, bool]


def objects(library: Library) -> Iterator[WalkedObject]:
    """Every object that the document has or refers to, once for each of its kinds.

    A mapping must not change before the next object is asked for.
    """
    stack: list[_Entry]
    stack = [(library.root, (), library.files[library.root].value, "document", False)]
    visited: set[tuple[FilePath, Path, str]] = set()
    while stack:
        uri, path, value, form, is_target = stack.pop()
        if form[-1] in "*]":
            stack += _entries(uri, path, value, form)
            continue
        if not isinstance(value, dict) or (uri, path, form) in visited:
            continue
        visited.add((uri, path, form))
        if isinstance(value.get("$ref"), str):
            stack += _target(library, uri, value["$ref"], form)
        forms = OBJECTS[form].forms
        for key, member in value.items():
            below = forms.get(key, "")
            if below.rstrip("*[]") in OBJECTS and isinstance(member, dict | list):
                stack.append((uri, (*path, key), member, below, False))
        yield WalkedObject(Node(library, uri, path, value), form, is_target)


def _entries(uri: FilePath, path: Path, value: Any, form: str) -> Iterator[_Entry]:
    """The members of a mapping of names, or the items of a list, without extensions."""
    if isinstance(value, dict) != (form[-1] == "*"):
        return
    kind = form.rstrip("*[]")
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value or ()):
        if kind == "schema" or not str(name).startswith("x-"):
            yield uri, (*path, name), entry, kind, False


def _target(library: Library, uri: FilePath, ref: str, kind: str) -> Iterator[_Entry]:
    """The target of a reference to an object of this kind; none if it does not exist."""
    try:
        node = library.target(uri, ref)
    except KeyError:
        return  # `references.py` has noted it
    yield node.uri, node.path, node.value, kind, True
