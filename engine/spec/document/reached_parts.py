"""The parts of a document that operations reach: their own, and all that their references lead to,
directly and indirectly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath

from engine.source.problem import Path
from engine.spec.document.compact_json import dumps
from engine.spec.document.node import Library
from engine.spec.document.packed_mappings import json_of
from engine.spec.document.path_items import ADDITIONAL, METHODS
from engine.spec.document.reference_target import UNUSABLE_NAME, pointer_steps, target_of

_REFERENCE = re.compile(r'"\$ref":("(?:[^"\\]|\\.)*")')
_OF_OPERATIONS = frozenset({"paths", "components", "webhooks"})
"""The keys of a document of which some parts may be reached by no operation."""

_Place = tuple[FilePath, tuple[str, ...]]


class ReachedParts:
    """The parts that the operations at these paths of the document reach; `others` are the
    operations of which nothing is reached. A path without either counts as reached: what is wrong
    there may be why it has none."""

    def __init__(
        self, library: Library, operations: Iterable[Path], others: Iterable[Path]
    ) -> None:
        self._library = library
        self._items: set[_Place] = set()
        self._divided = {str(at[1]) for at in others}
        self._parts: set[_Place] = set()
        self._follow(self._parts_of_paths(operations))

    def has(self, uri: FilePath, path: Path) -> bool:
        """Whether the value at a path of a file is in a part that is reached; of a path item,
        whether one of its operations is. What is about the document as a whole is."""
        place = tuple(map(str, path))
        if uri == self._library.root and not _OF_OPERATIONS & {*place[:1]}:
            return True
        if place[:2] == ("components", "securitySchemes"):  # which operations name
            return True
        if self._is_removed_item(uri, place[:2]):
            return True
        beginnings = ((uri, place[:end]) for end in range(len(place) + 1))
        return (uri, place) in self._items or any(each in self._parts for each in beginnings)

    def _is_removed_item(self, uri: FilePath, place: tuple[str, ...]) -> bool:
        """Whether a place was that of a path item which was removed from the document."""
        is_item = uri == self._library.root and place[:1] == ("paths",) and len(place) > 1
        return is_item and (uri, place) not in self._items and place[1] not in self._divided

    def _parts_of_paths(self, operations: Iterable[Path]) -> Iterator[tuple[_Place, str]]:
        """The operations and what their path items have for all, each with its JSON; path items
        without others are read as they are packed."""
        root = self._library.root
        value = self._library.files[root].value
        by_item: dict[str, list[tuple[str, ...]]] = {
            key: [] for key in value.get("paths") or () if key not in self._divided
        }
        for at in operations:
            by_item.setdefault(str(at[1]), []).append(tuple(map(str, at)))
        for key, listed in by_item.items():
            self._items.add((root, ("paths", key)))
            if key not in self._divided:
                yield (root, ("paths", key)), json_of(value, ("paths", key))
                continue
            item = value["paths"][key]
            for name in item.keys() - {*METHODS, ADDITIONAL}:
                yield (root, ("paths", key, name)), dumps({name: item[name]})
            for at in listed:
                yield (root, at), json_of(item, at[2:]) if at[2] in item else ""

    def _follow(self, parts: Iterable[tuple[_Place, str]]) -> None:
        """Add parts, and those that their references lead to."""
        stack = list(parts)
        self._parts.update(place for place, _ in stack)
        references: set[tuple[FilePath, str]] = set()
        while stack:
            (uri, _), text = stack.pop()
            for reference in {*_REFERENCE.findall(text)}:
                if (uri, reference) not in references:
                    references.add((uri, reference))
                    target = self._target(uri, json.loads(reference))
                    if target is not None and target[0] not in self._parts:
                        self._parts.add(target[0])
                        stack.append(target)

    def _target(self, uri: FilePath, reference: str) -> tuple[_Place, str] | None:
        """The place that a reference leads to, and the JSON there; None without a target, which
        another finding names."""
        try:
            file, pointer = target_of(reference, uri, self._library.resolved)
            path = tuple(pointer_steps(pointer))
            return (file, path), json_of(self._library.files[file].value, path)
        except (*UNUSABLE_NAME, KeyError, IndexError, TypeError):
            return None
