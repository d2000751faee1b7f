"""The operations that need a removed part of their document.

Removed parts of responses do not matter: requests do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from engine.spec.document.node import Breach, Library, Node, pointer_steps, target_of
from engine.spec.document.references import references

_Place = tuple[FilePath, tuple[str, ...]]
_NOT_REQUESTED = frozenset({"responses", "callbacks"})


def breaches_by_path(library: Library) -> dict[tuple[str, ...], Breach]:
    """The breaches by the path of each place that they affect: the place of the breach itself, and
    every `$ref` that leads to it, directly or not."""
    breaches: dict[tuple[str, ...], Breach] = {}
    if not library.breaches:
        return breaches
    links = list(_links(library))
    queue = [(_place(breach.uri, breach.path), breach) for breach in library.breaches]
    visited: set[_Place] = set()
    for place, breach in queue:
        if place in visited or _is_response(place[1]):
            continue
        visited.add(place)
        if place[0] == library.root:
            breaches.setdefault(place[1], breach)
        queue += [
            (at, breach)
            for at, target in links
            if target[0] == place[0] and _overlap(target, place)
        ]
    return breaches


def breach_of(breaches: dict[tuple[str, ...], Breach], template: str, method: str) -> Breach | None:
    """The breach because of which an operation cannot be served, or None."""
    for path, breach in breaches.items():
        if path[:2] != ("paths", template):
            continue
        if len(path) == 2 or path[2] in (method, "parameters", "servers"):
            return breach
    return None


def _is_response(path: tuple[str, ...]) -> bool:
    """Whether a path is in the responses or callbacks of an operation."""
    return (path[:1] == ("paths",) and len(path) > 3 and path[3] in _NOT_REQUESTED) or (
        path[:2] in (("components", "responses"), ("components", "callbacks"))
    )


def _overlap(target: _Place, place: _Place) -> bool:
    """Whether one of two places is within the other."""
    length = min(len(target[1]), len(place[1]))
    return target[1][:length] == place[1][:length]


def _links(library: Library) -> Iterator[tuple[_Place, _Place]]:
    """Every reference: its place and its target."""
    for uri, file in library.files.items():
        for node in references(Node(library, uri, (), file.value)):
            target, pointer = target_of(node.value["$ref"], uri)
            yield _place(uri, node.path), (target, tuple(pointer_steps(pointer)))


def _place(uri: FilePath, path: tuple[str | int, ...]) -> _Place:
    return uri, tuple(map(str, path))
