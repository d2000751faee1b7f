"""Arguments of a function call that arrive value by value (`partialArgs`)."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Raw

from engine.translations.neutral import events
from engine.translations.neutral.calls import check_buffer
from engine.translations.neutral.json_members import Members, encode
from engine.values.trees import Json

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]")
_MAX_DEPTH = 64


class PartialArguments:
    """A value is placed by its JSON path; more of a string comes with the same path."""

    def __init__(self) -> None:
        self._root: Json = {}
        self._strings: list[str] = []
        self._path = ""
        self._size = 0

    def add(self, partial: Members) -> None:
        """The next value, or more of the last one. Raises BrokenAnswer or WrongType."""
        path = partial.text("jsonPath") or ""
        text = partial.text("stringValue")
        self._size += len(path) + len(text or "")
        check_buffer(self._size, "tool call has")
        if path != self._path:
            self._end_string()
        if text is not None:
            self._path = path
            self._strings.append(text)
            return
        self._end_string()
        for name in ("numberValue", "boolValue"):
            if (raw := partial.raw(name)) is not None:
                self._set(path, raw)
                return
        self._set(path, None)

    def json(self) -> str:
        """The JSON text of all arguments."""
        self._end_string()
        return encode(self._root).decode()

    def _end_string(self) -> None:
        if self._strings:
            self._set(self._path, "".join(self._strings))
        self._strings, self._path = [], ""

    def _set(self, path: str, value: str | Raw | None) -> None:
        steps = _steps(path)
        place: object = self._root
        for step, following in pairwise(steps):
            empty: object = [] if isinstance(following, int) else {}
            place = _enter(place, step, empty, path)
        _enter(place, steps[-1], value, path)


def _steps(path: str) -> list[str | int]:
    """The names and indexes of a path: `$.a[0]` -> `["a", 0]`."""
    steps: list[str | int] = []
    at = 1
    while (match := _STEP.match(path, at)) is not None and len(steps) < _MAX_DEPTH:
        name, index, quoted = match.groups()
        steps.append(int(index) if index is not None else name if name is not None else quoted)
        at = match.end()
    if not path.startswith("$") or at != len(path) or not steps:
        raise _misplaced(path)
    return steps


def _enter(place: object, step: str | int, empty: object, path: str) -> object:
    """The value at a step, put there if there is none. A list grows at its end."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.setdefault(step, empty)
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        if step == len(place):
            place.append(empty)
        return place[step]
    raise _misplaced(path)


def _misplaced(path: str) -> events.BrokenAnswer:
    return events.BrokenAnswer(
        f"the upstream's answer has an argument at an impossible path '{path:.80}'"
    )
