"""YAML nodes -> plain values, with problems for repeated keys, unsupported tags and numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from engine.source.nodes import MAP, MERGE, SEQ, STR, TAG, Loader
from engine.source.problem import Level, Problem
from engine.source.suggestion import did_you_mean

Expand = Callable[[str], str]
NO_TAGS: frozenset[str] = frozenset()

_NULL, _BOOL, _INT, _FLOAT = (f"{TAG}{name}" for name in ("null", "bool", "int", "float"))
_BINARY = f"{TAG}binary"
_MAX_NUMBER = 400
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]{1,15}")
_MAX_BY_ALIAS = 300_000
"""The most values that all aliases may expand to: a few lines can expand to billions."""


class ExpandError(Exception):
    """A `${...}` could not be expanded. `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Values:
    """The plain values of one file's nodes.

    `problems` are the problems of the values. `expansions` maps each value that came from `${...}`
    to its text in the file; `references` has the same texts by line and column, and `tags` those of
    `known_tags` that values have. A value with a known tag is read as if it had none.
    """

    def __init__(
        self, file: str, expand: Expand | None, known_tags: frozenset[str] = NO_TAGS
    ) -> None:
        self.problems: list[Problem] = []
        self.expansions: dict[str, str] = {}
        self.references: dict[tuple[int, int], str] = {}
        self.tags: dict[tuple[int, int], str] = {}
        self.known_tags = known_tags
        self.file = file
        self.expand = expand
        self.resolver = Loader("")
        self.open: set[int] = set()
        self.by_node: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._count = self._by_alias = 0

    def of(self, node: yaml.Node) -> Any:
        """The value of a node. An alias shares the value of its anchor."""
        self._count += 1
        if node.tag in self.known_tags:
            self._take_tag(node)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self.open:
            self._note(node, "MW004", "an alias that contains itself")
            return None
        if id(node) in self.by_node:
            return self._alias(node)
        if node.tag not in (MAP, SEQ):
            hint = did_you_mean(node.tag, self.known_tags, "remove the tag")
            self._note(node, "MW004", f"tag '{node.tag}' is not supported", hint)
        before = self._count
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                value: Any = [self.of(child) for child in node.value]
            else:
                value = self._mapping(node)
        finally:
            self.open.discard(id(node))
        # Values of anchors are cached, so that aliases of aliases cost nothing.
        self.by_node[id(node)] = value
        self._sizes[id(node)] = self._count - before
        return value

    def _take_tag(self, node: yaml.Node) -> None:
        self.tags[node.start_mark.line + 1, node.start_mark.column + 1] = node.tag
        is_plain = not getattr(node, "style", None)
        node.tag = self.resolver.resolve(type(node), node.value, (is_plain, not is_plain))

    def _alias(self, node: yaml.Node) -> Any:
        value, size = self.by_node[id(node)], self._sizes[id(node)]
        before = self._by_alias
        if before <= _MAX_BY_ALIAS:
            self._count += size
            self._by_alias += size
        if self._by_alias <= _MAX_BY_ALIAS:
            return value
        if before <= _MAX_BY_ALIAS:  # report it once
            message = f"aliases expand to more than {_MAX_BY_ALIAS:,} values"
            self._note(node, "MW004", message, "write this without aliases of aliases")
        return type(value)()

    def _note(self, node: yaml.Node, code: str, message: str, hint: str = "") -> None:
        mark = node.start_mark
        place = (self.file, mark.line + 1, mark.column + 1)
        self.problems.append(Problem(*place, Level.ERROR, code, message, hint))

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for name, value in node.value:
            if name.tag == MERGE:
                sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for source in sources:
                    defaults = self.of(source)
                    if isinstance(defaults, dict):
                        merged = defaults | merged
                    else:
                        self._note(source, "MW004", "'<<' merges mappings only")
                continue
            if not isinstance(name, yaml.ScalarNode):
                self._note(name, "MW004", "a key must be a plain name")
                continue
            if name.value in mapping:
                lines = lines or _first_lines(node.value)
                hint = f"keep one of them; the other is in line {lines[name.value]}"
                self._note(name, "MW003", f"key '{name.value}' is repeated", hint)
                continue
            mapping[sys.intern(name.value)] = self.of(value)
        return merged | mapping if merged else mapping

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag, text = node.tag, node.value
        if self.expand is not None and "$" in text:
            try:
                text = self.expand(text)
            except ExpandError as error:
                self._note(node, "MW005", str(error), error.hint)
                return node.value
            self.expansions[text] = node.value
            mark = node.start_mark
            if "${" in node.value:
                self.references[mark.line + 1, mark.column + 1] = node.value
            if not node.style and text != node.value:
                tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
        if tag == STR:
            return sys.intern(text)  # thousands of models name the same upstreams
        if tag == _NULL:
            return None
        if tag == _BINARY and self.expand is None:
            return "".join(text.split())  # Base64, as JSON has it in examples of documents
        if tag == _BOOL:
            return text[0] in "tT"
        if tag == _INT and len(text) <= _MAX_NUMBER:
            if self.expand is not None and _LEADING_ZERO.fullmatch(node.value):
                message = f"'{node.value}' begins with 0: some programs read it as octal"
                self._note(node, "MW004", message, f"write {int(text)}; a text goes in quotes")
            return _integer(text)
        if tag == _FLOAT:
            return _float(text)
        if tag == _INT:
            message = f"a number of {len(text)} digits"
            hint = f"write at most {_MAX_NUMBER} digits, or put it in quotes"
        else:
            message = f"tag '{node.tag}' is not supported"
            hint = did_you_mean(node.tag, self.known_tags, "write a plain value")
        self._note(node, "MW004", message, hint)
        return None


def _first_lines(entries: Sequence[tuple[yaml.Node, yaml.Node]]) -> dict[str, int]:
    """The line of each key of a mapping; of a repeated one, that of the first."""
    return {
        name.value: name.start_mark.line + 1
        for name, _ in reversed(entries)
        if isinstance(name, yaml.ScalarNode) and name.tag != MERGE
    }


def _integer(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _float(text: str) -> float:
    lowered = text.lower()
    return float(lowered.replace(".inf", "inf").replace(".nan", "nan"))
