"""The tree that matches a raw path against path templates.

WSGI's PATH_INFO is already decoded, so in it a model name with `%2F` looks like two segments; and
segments may end in a verb (`{model}:generateContent`). So the tree matches raw segments: literal
segments first, then templates with more literal text, then variables which may contain slashes
because they hold a model's name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from engine.spec.document.path_templates import pieces, regex, variables

_REMEMBERED = 128
"""Paths with variables whose templates are remembered: most requests name one of few models."""
_SEGMENT = regex("{any}")
Spans = Mapping[str, tuple[int, int]]
NO_SPANS: Spans = {}
"""The spans of a path without variables."""


class PathMatch(NamedTuple):
    """The value added for a path and method, and the spans of the variables in the path."""

    value: Any
    variables: Spans


class PathMiss(NamedTuple):
    """No template for this path and method. `allowed`: the methods that the path has; `verbs`: the
    valid `:verb`s, if the last segment ends in an unknown one."""

    allowed: tuple[str, ...]
    verbs: tuple[str, ...]


_Leaf = dict[str, tuple[Any, tuple[str, ...]]]
"""The end of a path: the value for each method, with the names of its variables."""


@dataclass(slots=True)
class _Pattern:
    """A segment, or the rest of a path, with variables. `literal` counts its literal characters."""

    regex: re.Pattern[str]
    literal: int
    verb: str
    child: _Node | _Leaf


@dataclass(slots=True)
class _Node:
    literals: dict[str, _Node] = field(default_factory=dict)
    patterns: tuple[_Pattern, ...] = ()
    slash_patterns: tuple[_Pattern, ...] = ()
    leaf: _Leaf | None = None


class PathTree:
    """Templates with their methods. Call `add` at start-up, then `find`."""

    def __init__(self) -> None:
        self._root = _Node()
        # Paths without variables, as callers write them, by their method.
        self._literals: dict[str, dict[str, Any]] = {}
        self._match = lru_cache(_REMEMBERED)(self._search)

    def add(
        self, template: str, method: str, value: object, slash_variables: Collection[str] = ()
    ) -> Any:
        """Add one operation; `slash_variables` names the variables that may hold slashes. Returns
        the value that is found for the template, which is another one if it was added before."""
        self._match.cache_clear()
        if not ("{" in template or "%" in template):
            return self._literals.setdefault(method, {}).setdefault(template, value)
        node = self._root
        names: tuple[str, ...] = ()
        segments = template.split("/")[1:]
        leaf: _Leaf | None = None
        for index, segment in enumerate(segments):
            segment_names = variables(segment) if "{" in segment else ()
            if any(name in slash_variables for name in segment_names):
                tail = "/".join(segments[index:])
                names += tuple(variables(tail))
                node.slash_patterns, leaf = _with_pattern(
                    node.slash_patterns, tail, slash_variables, dict
                )
                break
            if segment_names:
                names += tuple(segment_names)
                node.patterns, child = _with_pattern(node.patterns, segment, (), _Node)
                node = child
                continue
            literal = unquote(segment)
            if literal not in node.literals:
                node.literals[literal] = _Node()
            node = node.literals[literal]
        if leaf is None:
            node.leaf = leaf = {} if node.leaf is None else node.leaf
        return leaf.setdefault(method, (value, names))[0]

    def find(self, path: str, method: str) -> PathMatch | PathMiss:
        """The template that matches `method` and the raw `path`, which begins with a slash."""
        values = self._literals.get(method)
        if values is not None and path in values:
            return PathMatch(values[path], NO_SPANS)
        return self._match(path, method)

    def is_sole(self, template: str, method: str) -> bool:
        """Whether no other template can match what this one, with variables that are whole segments
        without slashes, does: nothing stands beside a variable."""
        node, segments = self._root, template.split("/")[1:]
        for segment in segments:
            following: _Node | _Leaf | None
            if "{" not in segment:
                following = node.literals.get(unquote(segment))
            elif not node.literals and [p.regex.pattern for p in node.patterns] == [_SEGMENT]:
                following = node.patterns[0].child
            else:
                return False
            if not isinstance(following, _Node):
                return False
            node = following
        literals = (path.split("/")[1:] for path in self._literals.get(method, ()))
        return method in (node.leaf or ()) and not any(_fits(each, segments) for each in literals)

    def _search(self, path: str, method: str) -> PathMatch | PathMiss:
        segments = path.split("/")
        if segments[0]:
            return PathMiss((), ())
        literal = _decoded(segments) if "%" in path else path
        values = self._literals.get(method)
        if values is not None and literal in values:
            return PathMatch(values[literal], NO_SPANS)
        names = {name: None for name, paths in self._literals.items() if literal in paths}
        verbs: dict[str, None] = {}
        starts = [0]
        for segment in segments:
            starts.append(starts[-1] + len(segment) + 1)
        search = _Search(path, method, segments, starts, names, verbs)
        match = search.descend(self._root, 1, ())
        if match is not None:
            return match
        ends_in_verb = ":" in segments[-1]
        return PathMiss(tuple(sorted(names)), tuple(verbs) if ends_in_verb else ())


def _fits(literals: list[str], segments: list[str]) -> bool:
    """Whether the segments of a path without variables may be those of a template."""
    pairs = zip(literals, segments, strict=False)
    return len(literals) == len(segments) and all(
        "{" in segment or unquote(segment) == literal for literal, segment in pairs
    )


def _decoded(segments: list[str]) -> str:
    """The path of the decoded segments; "" if one contains a slash: no literal path matches."""
    decoded = [unquote(segment) for segment in segments]
    return "" if any("/" in segment for segment in decoded) else "/".join(decoded)


def _with_pattern(
    patterns: tuple[_Pattern, ...],
    text: str,
    slash_variables: Collection[str],
    kind: type[_Node | _Leaf],
) -> tuple[tuple[_Pattern, ...], Any]:
    """The patterns with this one, the most literal first, and its node or leaf."""
    expression = regex(text, slash_variables)
    for pattern in patterns:
        if pattern.regex.pattern == expression:
            return patterns, pattern.child
    verb = text.rpartition("}")[2]
    literal = sum(map(len, pieces(text)[::2])) + text.count("}{")  # which has a dot, see `regex`
    pattern = _Pattern(
        re.compile(expression), literal, verb if verb.startswith(":") else "", kind()
    )
    by_literal = sorted((*patterns, pattern), key=lambda pattern: -pattern.literal)
    return tuple(by_literal), pattern.child


@dataclass(slots=True)
class _Search:
    path: str
    method: str
    segments: list[str]
    starts: list[int]
    allowed: dict[str, None]
    verbs: dict[str, None]

    def descend(
        self, node: _Node, index: int, spans: tuple[tuple[int, int], ...]
    ) -> PathMatch | None:
        if index == len(self.segments):
            return self._at(node.leaf, spans) if node.leaf else None
        segment = self.segments[index]
        literal = node.literals.get(unquote(segment) if "%" in segment else segment)
        if literal is not None and (result := self.descend(literal, index + 1, spans)):
            return result
        start = self.starts[index]
        for pattern in node.patterns:
            match = pattern.regex.fullmatch(self.path, start, self.starts[index + 1] - 1)
            if match is not None:
                assert isinstance(pattern.child, _Node)
                result = self.descend(pattern.child, index + 1, spans + match.regs[1:])
                if result is not None:
                    return result
        for pattern in node.slash_patterns:
            assert isinstance(pattern.child, dict)
            match = pattern.regex.fullmatch(self.path, start)
            if match is not None and (result := self._at(pattern.child, spans + match.regs[1:])):
                return result
            if pattern.verb and self.method in pattern.child:
                self.verbs[pattern.verb] = None
        return None

    def _at(self, leaf: _Leaf, spans: tuple[tuple[int, int], ...]) -> PathMatch | None:
        entry = leaf.get(self.method)
        if entry is None:
            self.allowed.update(dict.fromkeys(leaf))
            return None
        value, names = entry
        return PathMatch(value, dict(zip(names, spans, strict=True)))
