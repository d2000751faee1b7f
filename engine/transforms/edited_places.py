"""Checks that the edits of a body touch places that do not overlap."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from engine.source.problem import Path
from engine.transforms.faults import CONFLICT, SYNTAX, Faults
from engine.transforms.places import ANY, ANY_DEPTH, Place, parse_place

_BOTH_ENDS = frozenset({"prepend", "append"})
_AROUND = frozenset({"default", "prepend", "append"})
"""Kinds of edits that keep the existing value, so that other edits may be below their place."""


class _Edit(NamedTuple):
    kind: str
    place: Place
    at: Path
    key: bool


class EditedPlaces:
    """The places that the edits of one body touch; `at` is that of the body."""

    def __init__(self, at: Path, faults: Faults) -> None:
        self._at = at
        self._faults = faults
        self._edits: list[_Edit] = []

    def read(self, kind: str, text: str, at: Path, *, key: bool, query: bool = True) -> Place:
        """Parse the place of the edit at `at`; `query`: it may be a query."""
        place = self._parse(text, at, key=key)
        if place is None:
            return Place(text, (text,))
        if place.query is not None and not query:
            message = f"'{text}' may be many places; '{kind.partition(' ')[0]}' has one"
            hint = "write the name of a member, or a JSON pointer such as /a/b"
            self._faults.add(at, SYNTAX, message, hint, key=key)
        self._edits.append(_Edit(kind, place, at, key))
        return place

    def condition(self, text: str, at: Path) -> Place:
        """Parse a place that is read and not edited."""
        return self._parse(text, at, key=False) or Place(text, (text,))

    def _parse(self, text: str, at: Path, *, key: bool) -> Place | None:
        try:
            return parse_place(text)
        except ValueError as error:
            self._faults.add(at, SYNTAX, str(error), key=key)
            return None

    def check(self) -> None:
        """Note every two edits that touch one place, or of which one is below the other."""
        for first, second in combinations(self._edits, 2):
            if _conflict(first, second):
                message = f"'{second.place.text}' is edited by '{_word(second)}', and "
                same = first.place.text == second.place.text
                message += f"by '{_word(first)}'"
                message += "" if same else f" at '{first.place.text}'"
                self._faults.add(
                    second.at, CONFLICT, message, "keep one of the two", key=second.key
                )


def _word(edit: _Edit) -> str:
    return edit.kind.partition(" ")[0]


def _conflict(first: _Edit, second: _Edit) -> bool:
    path, other_path = first.place.steps, second.place.steps
    if ANY_DEPTH in (*path, *other_path):
        return False  # its matches are known only at run time; the order of edits decides
    if any(a != b and ANY not in (a, b) for a, b in zip(path, other_path, strict=False)):
        return False
    kinds = {first.kind, second.kind}
    if len(path) == len(other_path):
        return not ((kinds <= _BOTH_ENDS and len(kinds) == 2) or kinds == {"rename to", "default"})
    above = first if len(path) < len(other_path) else second
    return above.kind not in _AROUND
