"""The objects of OpenAPI in a document and the files it refers to, each with its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
_NESTED = (dict, list)


def objects(library: Library, kinds: Mapping[str, ObjectKind] = OBJECTS) -> Iterator[WalkedObject]:
    """Every object that the document has or refers to, once for each of its kinds.

    A mapping must not change before the next object is asked for.
    """
    stack: list[_Entry]
    stack = [(library.root, (), library.files[library.root].value, "document", False)]
    forms_below = {name: _object_forms(kind, kinds) for name, kind in kinds.items()}
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
        forms = forms_below[form]
        for key, member in value.items():
            if key in forms and isinstance(member, _NESTED):
                stack.append((uri, (*path, key), member, forms[key], False))
        yield WalkedObject(Node(library, uri, path, value), form, is_target, target)


def _object_forms(kind: ObjectKind, kinds: Mapping[str, ObjectKind]) -> dict[str, str]:
    """The keys of an object under which are objects, with their forms."""
    return {key: form for key, form in kind.forms.items() if form.rstrip("*[]") in kinds}


def _entries(uri: FilePath, path: Path, value: Any, form: str) -> list[_Entry]:
    """The members of a mapping of names, or the items of a list, without extensions."""
    if isinstance(value, dict) != (form[-1] == "*"):
        return []
    kind = form.rstrip("*[]")
    entries: Iterable[Any] = value.items() if isinstance(value, dict) else enumerate(value or ())
    return [
        (uri, (*path, name), entry, kind, False)
        for name, entry in entries
        if kind == "schema" or not str(name).startswith("x-")
    ]


def _target(library: Library, uri: FilePath, ref: str) -> Node | None:
    """The target of a reference; None if it does not exist, which `references/` has noted."""
    try:
        return library.target(uri, ref)
    except KeyError:
        return None
