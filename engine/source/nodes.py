"""YAML text -> node tree, by libyaml: the core schema of YAML 1.2, with a limited depth."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import yaml

TAG = "tag:yaml.org,2002:"
STR, SEQ, MAP, MERGE = (f"{TAG}{name}" for name in ("str", "seq", "map", "merge"))

_DEEP = re.compile(r"^ {200,}|(?:[-?] ){100,}", re.MULTILINE)
_PARTS_OF_DEEP = (" " * 200, "- - ", "- ? ", "? - ", "? ? ")
"""Every match of _DEEP has one of these, which are found in a tenth of its time."""
_BRACKET = re.compile(r"[\[\]{}]")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_MAX_DEPTH = 200
_OTHER_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


class Loader(yaml.CSafeLoader):
    """libyaml's parser with the implicit types of YAML 1.2's core schema (and the merge key)."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        """The implicit tag of a node: as PyYAML, without its path resolvers."""
        if kind is yaml.ScalarNode:
            if implicit[0] and value is not None:
                for tag, pattern in self.yaml_implicit_resolvers.get(value[:1], ()):
                    if pattern.match(value):
                        return tag
            return STR
        return SEQ if kind is yaml.SequenceNode else MAP

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        """No path resolvers: the parser calls this before each node."""

    def ascend_resolver(self) -> None:
        """No path resolvers: the parser calls this after each node."""


for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
        r"|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("merge", r"<<", "<"),
):
    _firsts = ["" if first == "\0" else first for first in _first]
    Loader.add_implicit_resolver(TAG + _name, re.compile(rf"^(?:{_pattern})$"), _firsts)


def compose(text: str) -> yaml.Node | None:
    """The node tree. Raises RecursionError for nesting too deep for libyaml's stack."""
    if _may_be_deep(text) and _depth(text) > _MAX_DEPTH:
        raise RecursionError
    loader = Loader(text)
    try:
        root = loader.get_single_node()
    finally:
        loader.dispose()
    if root is not None and _OTHER_LINE_ENDS.search(text):
        _count_lines(root, text)
    return root


def _count_lines(root: yaml.Node, text: str) -> None:
    """Let the marks of all nodes count the lines that editors count: for libyaml three other
    characters end a line, too."""
    line_ends = [match.start() for match in re.finditer("\n", text)]
    for node in _nodes(root):
        index = node.start_mark.index
        line = bisect_left(line_ends, index)
        column = index - (line_ends[line - 1] if line else -1) - 1
        node.start_mark = yaml.Mark(node.start_mark.name, index, line, column, None, 0)


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """A node and all below it, each once: aliases share theirs."""
    stack, visited = [root], set()
    while stack:
        node = stack.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        yield node
        if isinstance(node, yaml.SequenceNode):
            stack += node.value
        elif isinstance(node, yaml.MappingNode):
            stack += (each for pair in node.value for each in pair)


def _may_be_deep(text: str) -> bool:
    """A cheap test: deep nesting needs deeply indented lines or many open brackets."""
    steps = map(_STEPS.__getitem__, _BRACKET.findall(text))
    if max(accumulate(steps), default=0) > _MAX_DEPTH:
        return True
    return any(part in text for part in _PARTS_OF_DEEP) and _DEEP.search(text) is not None


def _depth(text: str) -> int:
    """The depth of the nesting; counting stops above _MAX_DEPTH.

    libyaml reads ahead of its events, so its own limit (since 0.2.6) may be reached first.
    """
    depth = deepest = 0
    try:
        for event in yaml.parse(text, Loader=Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                deepest = max(deepest, depth)
                if deepest > _MAX_DEPTH:
                    break
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.MarkedYAMLError as error:
        if "maximum nesting depth" not in (error.problem or ""):
            raise
        return _MAX_DEPTH + 1
    return deepest
