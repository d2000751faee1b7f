"""The operations that need a removed part of their document.

Removed parts of responses do not matter: requests do not depend on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path as FilePath

from engine.spec.document.node import ADDITIONAL, Breach, Library, Node, pointer_steps, target_of
from engine.spec.document.references import references

_Place = tuple[FilePath, tuple[str, ...]]
_OF_OPERATIONS = frozenset({("responses",), ("callbacks",)})
_OF_COMPONENTS = frozenset({("components", "responses"), ("components", "callbacks")})


def breaches_by_path(library: Library) -> dict[tuple[str, ...], Breach]:
    """The breaches by the path of each place that they affect: the place of the breach itself, and
    every `$ref` that leads to it, directly or not."""
    breaches: dict[tuple[str, ...], Breach] = {}
    if not library.breaches:
        return breaches
    links = _Links(library)
    queue = [(_place(breach.uri, breach.path), breach) for breach in library.breaches]
    visited: set[_Place] = set()
    for place, breach in queue:
        if place in visited or _is_response(place[1]):
            continue
        visited.add(place)
        if place[0] == library.root:
            breaches.setdefault(place[1], breach)
        queue += [(at, breach) for at in links.to(place)]
    return breaches


def breach_of(
    breaches: dict[tuple[str, ...], Breach], template: str, at: tuple[str, ...]
) -> Breach | None:
    """The breach because of which an operation cannot be served, or None. `at` is its path in its
    path item."""
    for path, breach in breaches.items():
        if path[:2] != ("paths", template):
            continue
        below = path[2:]
        if below[:1] in ((), ("parameters",), ("servers",)) or below[: len(at)] == at[: len(below)]:
            return breach
    return None


def _is_response(path: tuple[str, ...]) -> bool:
    """Whether a path is in the responses or callbacks of an operation."""
    if path[:1] == ("paths",):
        return path[4 if path[2:3] == (ADDITIONAL,) else 3 :][:1] in _OF_OPERATIONS
    return path[:2] in _OF_COMPONENTS or path[:1] == ("responses",)


class _Links:
    """The places of all references of a library, by their targets: a large document has tens of
    thousands of both."""

    def __init__(self, library: Library) -> None:
        self._exact: dict[_Place, list[_Place]] = defaultdict(list)
        self._within: dict[_Place, list[_Place]] = defaultdict(list)
        for uri, file in library.files.items():
            for node in references(Node(library, uri, (), file.value)):
                target, pointer = target_of(node.value["$ref"], uri)
                steps, at = tuple(pointer_steps(pointer)), _place(uri, node.path)
                self._exact[target, steps].append(at)
                for end in range(len(steps) + 1):
                    self._within[target, steps[:end]].append(at)

    def to(self, place: _Place) -> Iterator[_Place]:
        """The references whose target is this place, a part of it, or has it as a part."""
        uri, steps = place
        yield from self._within.get(place, ())
        for end in range(len(steps)):
            yield from self._exact.get((uri, steps[:end]), ())


def _place(uri: FilePath, path: tuple[str | int, ...]) -> _Place:
    return uri, tuple(map(str, path))
