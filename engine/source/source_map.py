"""Source map of a YAML or JSON file: line and column of every value, a few bytes each.

The parser's nodes take many times the memory of the file, so they are discarded. Entries are in the
order of the file, each followed by its descendants.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator

import yaml

from engine.source.nodes import MERGE

Path = tuple[str | int, ...]


class SourceMap:
    """The positions of the values of a node tree. An alias refers to the entry of its anchor."""

    __slots__ = ("_aliases", "_children", "_keys", "_lists", "_marks", "_merges", "_subtree_ends")

    def __init__(self, root: yaml.Node) -> None:
        self._marks = array("I")  # line and column of the key, line and column of the value
        self._subtree_ends = array("I")
        self._keys: list[str | None] = []
        self._lists: set[int] = set()
        self._merges: set[int] = set()
        self._aliases: dict[int, int] = {}
        self._children: dict[int, dict[str | int | None, int]] = {}  # cache of `_children_of`
        self._add(root, root, {})

    def find(self, path: Path, *, key: bool) -> tuple[int, int]:
        """Line and column, from 1, of the value at a path, or of its key.

        If the path does not exist, those of its nearest parent that does.
        """
        at, of_key = 0, False
        for number, step in enumerate(path, 1):
            child = self._child(at, step)
            if child is None:
                break
            # A step that equals the last one also selects its key.
            at, of_key = child, key and (number == len(path) or step == path[-1])
        start = 4 * at + (0 if of_key else 2)
        return self._marks[start] + 1, self._marks[start + 1] + 1

    def _add(self, name: yaml.Node, node: yaml.Node, anchors: dict[int, int]) -> None:
        index = len(self._subtree_ends)
        key, value = name.start_mark, node.start_mark
        self._marks.extend((key.line, key.column, value.line, value.column))
        self._subtree_ends.append(index + 1)
        is_plain = isinstance(name, yaml.ScalarNode)
        self._keys.append(sys.intern(name.value) if is_plain else None)
        if isinstance(node, yaml.ScalarNode):
            return
        if id(node) in anchors:
            self._aliases[index] = anchors[id(node)]
            return
        anchors[id(node)] = index
        if isinstance(node, yaml.SequenceNode):
            self._lists.add(index)
            for child in node.value:
                self._add(child, child, anchors)
        else:
            for key_node, child in node.value:
                if key_node.tag == MERGE:
                    self._merges.add(len(self._subtree_ends))
                self._add(key_node, child, anchors)
        self._subtree_ends[index] = len(self._subtree_ends)

    def _iter_children(self, at: int) -> Iterator[int]:
        """The children of an entry, in order."""
        child, end = at + 1, self._subtree_ends[at]
        while child < end:
            yield child
            child = self._subtree_ends[child]

    def _child(self, at: int, step: str | int) -> int | None:
        at = self._aliases.get(at, at)
        if at in self._lists:
            return self._children_of(at).get(step) if isinstance(step, int) else None
        child = self._children_of(at).get(str(step))
        return self._merged(at, step) if child is None else child

    def _children_of(self, at: int) -> dict[str | int | None, int]:
        """The children of an entry by index or key, cached: a linear search for each of thousands
        of paths would take quadratic time."""
        if at not in self._children:
            entries: Iterable[tuple[str | int | None, int]] = enumerate(self._iter_children(at))
            if at not in self._lists:
                entries = [(self._keys[child], child) for child in self._iter_children(at)][::-1]
            self._children[at] = dict(entries)  # reversed, so that the first of equal keys wins
        return self._children[at]

    def _merged(self, at: int, step: str | int) -> int | None:
        """The entry that a merge key (`<<`) adds to a mapping."""
        if not self._merges:
            return None
        for child in self._iter_children(at):
            if child in self._merges:
                source = self._aliases.get(child, child)
                sources = self._iter_children(source) if source in self._lists else [source]
                for entry in sources:
                    if (match := self._child(entry, step)) is not None:
                        return match
        return None
