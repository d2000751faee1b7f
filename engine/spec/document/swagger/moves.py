"""The parts of a document that its conversion moves, so that findings, references and overlays
still find them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

from engine.source.problem import Path
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import pointer_steps, target_of
from engine.spec.document.references.reference_walk import all_references


class Moves:
    """The moved parts of one library. All paths before `apply` are those before the conversion,
    but for the `new` ones."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._places: dict[tuple[FilePath, tuple[str, ...]], Path] = {}
        self._origins: dict[FilePath, dict[Path, Path]] = {}

    def move(self, uri: FilePath, old: Path, new: Path) -> None:
        """A value has another path: references to it and into it are rewritten."""
        self._places.setdefault((uri, tuple(map(str, old))), new)

    def origin(self, uri: FilePath, new: Path, old: Path) -> None:
        """A value at `new` was made from the one at `old`: its findings are noted there."""
        self._origins.setdefault(uri, {})[new] = old

    def reference(self, uri: FilePath, path: Path) -> dict[str, str]:
        """A reference to a value by its path before the conversion."""
        return {"$ref": _ref(self._library, uri, path)}

    def apply(self) -> None:
        """Rewrite the references, and give each moved value the place of its origin."""
        library = self._library
        grafts = {
            uri: {self._new_path(uri, path): origin for path, origin in of_file.items()}
            for uri, of_file in library.grafts.items()
        }
        for uri, origins in self._origins.items():
            of_file = grafts.setdefault(uri, {})
            for new, old in origins.items():
                of_file.setdefault(new, library.origin(uri, old))
        library.grafts = grafts
        library.unresolved = [(uri, self._new_path(uri, path)) for uri, path in library.unresolved]
        library.extensions = [(uri, self._new_path(uri, path)) for uri, path in library.extensions]
        for node in all_references(library):
            self._rewrite(node)

    def _rewrite(self, node: Node) -> None:
        target, pointer = target_of(node.value["$ref"], node.uri)
        old = tuple(pointer_steps(pointer))
        new = self._new_path(target, old)
        if new != old:
            node.value["$ref"] = _ref(self._library, target, new)

    def _new_path(self, uri: FilePath, path: Path) -> Path:
        """The path after the conversion: that of the longest part of it which was moved."""
        steps = tuple(map(str, path))
        for end in range(len(steps), 0, -1):
            if (new := self._places.get((uri, steps[:end]))) is not None:
                return (*new, *path[end:])
        return path


def move_keys(
    moves: Moves, node: Node, keys: Mapping[str, object], new: Path, *, converted: bool = True
) -> None:
    """Members of `node` moved to the mapping at `new`; `converted`: the conversion has made it."""
    for key in keys:
        moves.move(node.uri, (*node.path, key), (*new, key))
    if converted:
        moves.origin(node.uri, new, node.path)


def _ref(library: Library, uri: FilePath, path: Path) -> str:
    pointer = Node(library, uri, path, None).pointer
    return pointer if len(library.files) > 1 else pointer[pointer.index("#") :]
