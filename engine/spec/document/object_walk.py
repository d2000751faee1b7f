"""The objects of OpenAPI in a document and the files it refers to, each with its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.source.problem import Path
from engine.spec.document.node import Library, Node
from engine.spec.document.objects import OBJECTS, ObjectKind


class WalkedObject(NamedTuple):
    """A mapping, and the name of its kind. `is_target`: a reference leads to it. `target`: what its
    own reference leads to; None without one, and if it has no target."""

    node: Node
    kind: str
    is_target: bool
    target: Node | None


_Entry = tuple[FilePath, Path, Any, str, bool]


def objects(library: Library, kinds: Mapping[str, ObjectKind] = OBJECTS) -> Iterator[WalkedObject]:
    """Every object that the document has or refers to, once for each of its kinds.

    A mapping must not change before the next object is asked for.
    """
    stack: list[_Entry]
    stack = [(library.root, (), library.files[library.root].value, "document", False)]
    visited: set[tuple[int, str]] = set()
    while stack:
        uri, path, value, form, is_target = stack.pop()
        if form[-1] in "*]":
            stack += _entries(uri, path, value, form)
            continue
        if not isinstance(value, dict) or (id(value), form) in visited:
            continue
        visited.add((id(value), form))
        ref = value.get("$ref")
        target = _target(library, uri, ref) if isinstance(ref, str) else None
        if target is not None:
            stack.append((target.uri, target.path, target.value, form, True))
        forms = kinds[form].forms
        for key, member in value.items():
            below = forms.get(key, "")
            if below.rstrip("*[]") in kinds and isinstance(member, dict | list):
                stack.append((uri, (*path, key), member, below, False))
        yield WalkedObject(Node(library, uri, path, value), form, is_target, target)


def _entries(uri: FilePath, path: Path, value: Any, form: str) -> Iterator[_Entry]:
    """The members of a mapping of names, or the items of a list, without extensions."""
    if isinstance(value, dict) != (form[-1] == "*"):
        return
    kind = form.rstrip("*[]")
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value or ()):
        if kind == "schema" or not str(name).startswith("x-"):
            yield uri, (*path, name), entry, kind, False


def _target(library: Library, uri: FilePath, ref: str) -> Node | None:
    """The target of a reference; None if it does not exist, which `references.py` has noted."""
    try:
        return library.target(uri, ref)
    except KeyError:
        return None
