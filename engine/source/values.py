"""YAML nodes -> plain values, and what is wrong with them: repeated keys, tags, numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from engine.source.nodes import TAG, Loader
from engine.source.problem import Level, Problem

Expand = Callable[[str], str]

_LONGEST_NUMBER = 400
_MOST_BY_ALIAS = 300_000
"""Values that aliases may stand for, all told: a few lines can stand for billions."""


class ExpandError(Exception):
    """A `${...}` could not be filled in. `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Values:
    """The plain values of one file's nodes.

    `problems` are what is wrong with them. `expanded` are the values that `${...}` was filled into,
    with what the file says instead; `references` are the same texts of the file by line and column.
    """

    def __init__(self, file: str, expand: Expand | None) -> None:
        self.problems: list[Problem] = []
        self.expansions: dict[str, str] = {}
        self.references: dict[tuple[int, int], str] = {}
        self.file = file
        self.expand = expand
        self.resolver = Loader("")
        self.open: set[int] = set()
        self.made: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._count = self._by_alias = 0

    def of(self, node: yaml.Node) -> Any:
        self._count += 1
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self.open:
            self._wrong(node, "MW004", "an alias that contains itself")
            return None
        if id(node) in self.made:
            return self._alias(node)
        before = self._count
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                made: Any = [self.of(child) for child in node.value]
            else:
                made = self._mapping(node)
        finally:
            self.open.discard(id(node))
        # An alias shares its anchor's value, so that aliases of aliases cost nothing.
        self.made[id(node)] = made
        self._sizes[id(node)] = self._count - before
        return made

    def _alias(self, node: yaml.Node) -> Any:
        made, size = self.made[id(node)], self._sizes[id(node)]
        before = self._by_alias
        if before <= _MOST_BY_ALIAS:
            self._count += size
            self._by_alias += size
        if self._by_alias <= _MOST_BY_ALIAS:
            return made
        if before <= _MOST_BY_ALIAS:  # said once
            message = f"aliases stand for more than {_MOST_BY_ALIAS:,} values"
            self._wrong(node, "MW004", message, "write this without aliases of aliases")
        return type(made)()

    def _wrong(self, node: yaml.Node, code: str, message: str, hint: str = "") -> None:
        mark = node.start_mark
        place = (self.file, mark.line + 1, mark.column + 1)
        self.problems.append(Problem(*place, Level.ERROR, code, message, hint))

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for name, value in node.value:
            if name.tag == TAG + "merge":
                sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for source in sources:
                    below = self.of(source)
                    if isinstance(below, dict):
                        merged = below | merged
                    else:
                        self._wrong(source, "MW004", "'<<' merges mappings only")
                continue
            if not isinstance(name, yaml.ScalarNode):
                self._wrong(name, "MW004", "a key must be a plain name")
                continue
            if name.value in made:
                self._wrong(name, "MW003", f"key '{name.value}' is repeated", "keep one of them")
                continue
            made[name.value] = self.of(value)
        return merged | made if merged else made

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag, text = node.tag, node.value
        if self.expand is not None and "$" in text:
            try:
                text = self.expand(text)
            except ExpandError as error:
                self._wrong(node, "MW005", str(error), error.hint)
                return node.value
            self.expansions[text] = node.value
            mark = node.start_mark
            if "${" in node.value:
                self.references[mark.line + 1, mark.column + 1] = node.value
            if not node.style and text != node.value:
                tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
        if tag == TAG + "str":
            return text
        if tag == TAG + "null":
            return None
        if tag == TAG + "bool":
            return text[0] in "tT"
        if tag == TAG + "int" and len(text) <= _LONGEST_NUMBER:
            return _integer(text)
        if tag == TAG + "float":
            return _float(text)
        what = "a number with too many digits"
        if tag != TAG + "int":
            what = f"tag '{node.tag}' is not supported"
        self._wrong(node, "MW004", what, "write a plain value")
        return None


def _integer(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _float(text: str) -> float:
    lowered = text.lower()
    return float(lowered.replace(".inf", "inf").replace(".nan", "nan"))
