"""Places in a JSON body: a member's name, a JSON Pointer (RFC 6901) or a query (RFC 9535)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from engine.values.json_pointer import path_of
from engine.values.json_spans import JsonPath

_BAD_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_MAX_REASON = 60
_WORD = re.compile(r"[A-Za-z0-9_]+")

JsonName = Callable[[str], str]
"""Gives the JSON name of a member, such as `generationConfig` for `generation_config`."""

ANY = "*"
"""A step of a query: any entry."""

ANY_DEPTH = "**"
"""A step of a query: this value and all values below it."""


class TooDeep(ValueError):
    """A value that is nested too deeply for a query."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place, or with a `query` all places that it finds. `steps` are those of the JSON Pointer;
    the steps of a query are names, indexes as text, ANY and ANY_DEPTH. `json_name` gives the other
    spelling of a step, in an API whose members may have two."""

    text: str
    steps: tuple[str, ...]
    query: Callable[[Any], list[JsonPath]] | None = field(default=None, compare=False)
    json_name: JsonName | None = field(default=None, compare=False)

    def with_names(self, json_name: JsonName) -> Place:
        """The place in the bodies of an API whose members may have two spellings."""
        if self.query is None:
            return replace(self, json_name=json_name)
        text = _WORD.sub(lambda word: json_name(word[0]), self.text)
        return self if text == self.text else replace(self, query=_either(self, parse_place(text)))

    def _key(self, step: str, node: Mapping[str, Any]) -> str:
        """The name that an object has for a step, which it may lack."""
        if self.json_name is None or step in node:
            return step
        name = self.json_name(step)
        if name != step:
            return name if name in node else step
        return next((key for key in node if "_" in key and self.json_name(key) == step), step)

    def path(self, value: Any) -> JsonPath | None:
        """The path of a place without a query in a value, with numbers for steps into arrays. The
        value may lack the last steps, which are then names. None if the place cannot exist in the
        value, such as a name in an array."""
        path: list[str | int] = []
        node = value
        for step in self.steps:
            if isinstance(node, list):
                if _INDEX.fullmatch(step) is None or int(step) >= len(node):
                    return None
                path.append(int(step))
                node = node[int(step)]
            elif isinstance(node, dict):
                step = self._key(step, node)
                path.append(step)
                node = node.get(step, _NOTHING)
            elif node is _NOTHING:
                path.append(step)
            else:
                return None
        return tuple(path)

    def find(self, value: Any) -> list[JsonPath]:
        """The paths of the values at this place, without those below another one. Raises
        TooDeep."""
        if self.query is None:
            path = self.path(value)
            return [path] if path is not None and _exists(value, path) else []
        paths = sorted(dict.fromkeys(path for path in self.query(value) if path), key=len)
        outermost: dict[JsonPath, None] = {}
        for path in paths:
            if not any(path[:size] in outermost for size in range(1, len(path))):
                outermost[path] = None
        return [*outermost]


_NOTHING: Any = object()


def _either(first: Place, second: Place) -> Callable[[Any], list[JsonPath]]:
    """The query for what either of two places finds."""

    def find(value: Any) -> list[JsonPath]:
        return [*dict.fromkeys((*first.find(value), *second.find(value)))]

    return find


def _exists(node: Any, path: JsonPath) -> bool:
    """Whether a value has the path that `Place.path` returned for it."""
    for step in path:
        if isinstance(node, dict) and step not in node:
            return False
        node = node[step]
    return True


def parse_place(text: str) -> Place:
    """Parse a place. Raises ValueError with a message for the user."""
    if text.startswith("$"):
        return _parse_query(text)
    if not text.startswith("/"):
        return Place(text, (text,))
    if _BAD_ESCAPE.search(text):
        raise ValueError(f"'{text}' is not a JSON pointer: write '~' as '~0' and '/' as '~1'")
    return Place(text, path_of(text))


def steps_of(text: str) -> tuple[str, ...]:
    """The steps of a place; the text itself if it cannot be parsed."""
    try:
        return parse_place(text).steps
    except ValueError:
        return (text,)


def _parse_query(text: str) -> Place:
    jsonpath = import_module("jsonpath")  # the import is slow, and few configs need it
    try:
        query = jsonpath.JSONPathEnvironment(strict=True).compile(text)
    except jsonpath.JSONPathError as error:
        reason = str(error).splitlines()[0][:_MAX_REASON]
        raise ValueError(f"'{text}' is not a JSONPath: {reason}") from error
    if not query.segments:
        raise ValueError("'$' is the whole body, which no edit can name")
    descent = import_module("jsonpath.segments").JSONPathRecursiveDescentSegment
    steps: list[str] = []
    for segment in query.segments:
        steps += [ANY_DEPTH] if isinstance(segment, descent) else []
        steps.append(_step(segment.selectors))
    if query.singular_query() and ANY not in steps:
        return Place(text, tuple(steps))

    def find(value: Any) -> list[JsonPath]:
        try:
            return [match.parts for match in query.finditer(value)]
        except jsonpath.JSONPathError as error:
            raise TooDeep(f"'{text}' cannot be evaluated: {error}") from error

    return Place(text, tuple(steps), find)


def _step(selectors: Sequence[Any]) -> str:
    """The name or index of a segment; ANY for one with several or with a condition."""
    if len(selectors) > 1:
        return ANY
    name, index = getattr(selectors[0], "name", None), getattr(selectors[0], "index", None)
    if isinstance(name, str):
        return name
    return f"{index}" if isinstance(index, int) and index >= 0 else ANY
