"""Path templates and the tree that matches a raw path against them.

WSGI's PATH_INFO is already decoded, so in it a model name with `%2F` looks like two segments; and
segments may end in a verb (`{model}:generateContent`). So the tree matches raw segments: literal
segments first, then templates with more literal text, then variables which may contain slashes
because they hold a model's name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SUSPICIOUS = re.compile(r"[%\\#\x00-\x1f\x7f-\xff]|/\.")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_MAX_DECODINGS = 4
_REMEMBERED = 128
"""Paths with variables whose templates are remembered: most requests name one of few models."""
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


def variables(template: str) -> list[str]:
    """The names of a template's variables, in order."""
    return [name.partition("=")[0] for name in _VARIABLE.findall(template)]


def pieces(template: str) -> list[str]:
    """What stands between a template's variables and, at the odd indexes, their names."""
    parts = _VARIABLE.split(template)
    parts[1::2] = [name.partition("=")[0] for name in parts[1::2]]
    return parts


def shape(template: str) -> str:
    """The template without the names of its variables: templates of equal shape match the same
    paths."""
    return _VARIABLE.sub("{}", template)


def pattern(template: str) -> re.Pattern[str]:
    """The pattern of the paths that a template matches, without variables that hold slashes, with a
    group for each variable."""
    return re.compile(_regex(template, ()))


def ambiguous(shapes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The ordered pairs of shapes that may match the same paths, of which neither is more specific:
    each has a variable where the other one has a literal segment."""
    by_mask: dict[tuple[bool, ...], list[list[str]]] = {}
    for shape_ in shapes:
        segments = shape_.split("/")
        by_mask.setdefault(tuple("{" in s for s in segments), []).append(segments)
    for mask, templates in by_mask.items():
        for other_mask, others in by_mask.items():
            pairs = {*zip(mask, other_mask, strict=False)}
            if len(mask) != len(other_mask) or not {(True, False), (False, True)} <= pairs:
                continue
            literal = [
                i for i, (a, b) in enumerate(zip(mask, other_mask, strict=True)) if not a | b
            ]
            by_literals: dict[tuple[str, ...], list[str]] = {}
            for segments in others:
                key = tuple(segments[i] for i in literal)
                by_literals.setdefault(key, []).append("/".join(segments))
            for segments in templates:
                for other in by_literals.get(tuple(segments[i] for i in literal), ()):
                    yield "/".join(segments), other


def check(template: str) -> str | None:
    """The error in a path template, or None."""
    if not template.startswith("/"):
        return "a path begins with '/'"
    if "//" in template:
        return "it has an empty segment"
    if "?" in template or "#" in template:
        return "a path has no query or fragment"
    literals = _VARIABLE.sub("", template)
    if "{" in literals or "}" in literals:
        return "it has an unbalanced brace"
    if "=" in "".join(_VARIABLE.findall(template)):
        return "a variable is a plain name, without a pattern"
    names = variables(template)
    if "" in names:
        return "a variable has no name"
    if len(set(names)) < len(names):
        return "a variable name is repeated"
    if re.search(r"\}\{", template):
        return "two variables follow each other: put text between them"
    return None


def unsafe(path: str) -> str | None:
    """The reason why a raw path must not reach an upstream, or None.

    Dot segments and control characters, encoded or not, may lead to a path that is not allowed.
    """
    if _SUSPICIOUS.search(path) is None:
        return None
    if _BAD_ESCAPE.search(path):
        return "it has a '%' without two hexadecimal digits"
    try:
        decoded = unquote(path.encode("latin-1").decode(), errors="strict")
    except UnicodeError:
        return "it is not UTF-8"
    if any(char < " " or char == "\x7f" for char in decoded) or "#" in path:
        return "it has a control character or '#'"
    return "it has a dot segment" if _has_dot_segment(decoded) else None


def _has_dot_segment(path: str) -> bool:
    """Whether a path has a dot segment now, or after more decoding, as an upstream may do it."""
    for _ in range(_MAX_DECODINGS):
        segments = re.split(r"[/\\]", path)
        if any(segment.partition(";")[0] in (".", "..") for segment in segments):
            return True
        path, before = unquote(path), path
        if path == before:
            break
    return False


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

    def _search(self, path: str, method: str) -> PathMatch | PathMiss:
        segments = path.split("/")
        if segments[0]:
            return PathMiss((), ())
        literal = _decoded(segments) if "%" in path else path
        values = self._literals.get(method)
        if values is not None and literal in values:
            return PathMatch(values[literal], NO_SPANS)
        allowed = {name: None for name, paths in self._literals.items() if literal in paths}
        verbs: dict[str, None] = {}
        starts = [0]
        for segment in segments:
            starts.append(starts[-1] + len(segment) + 1)
        search = _Search(path, method, segments, starts, allowed, verbs)
        match = search.descend(self._root, 1, ())
        if match is not None:
            return match
        ends_in_verb = ":" in segments[-1]
        return PathMiss(tuple(sorted(allowed)), tuple(verbs) if ends_in_verb else ())


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
    regex = _regex(text, slash_variables)
    for pattern in patterns:
        if pattern.regex.pattern == regex:
            return patterns, pattern.child
    verb = text.rpartition("}")[2]
    literal = len(_VARIABLE.sub("", text))
    pattern = _Pattern(re.compile(regex), literal, verb if verb.startswith(":") else "", kind())
    by_literal = sorted((*patterns, pattern), key=lambda pattern: -pattern.literal)
    return tuple(by_literal), pattern.child


def _regex(text: str, slash_variables: Collection[str]) -> str:
    parts = []
    at = 0
    for match in _VARIABLE.finditer(text):
        parts.append(_literal(text[at : match.start()]))
        parts.append("(.+)" if match[1].partition("=")[0] in slash_variables else "([^/]+)")
        at = match.end()
    return "".join(parts) + _literal(text[at:])


def _literal(text: str) -> str:
    """A pattern for literal text; reserved characters also match percent-encoded."""
    return "".join(
        char if char.isalnum() or char in "/-_~" else f"(?:{re.escape(char)}|(?i:%{ord(char):02x}))"
        for char in text
    )


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
