"""Checks that no two edits of a transform touch one header or parameter, or places of a body that
overlap."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

from engine.source.problem import Path
from engine.transforms.faults import CONFLICT, RESERVED, SYNTAX, Faults
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
                hint = self._hint(first, second)
                self._faults.add(second.at, CONFLICT, message, hint, key=second.key)

    def _hint(self, first: _Edit, second: _Edit) -> str:
        """What to write instead of two edits of a place."""
        if {first.kind, second.kind} == {"rename", "default"}:
            rename = first if first.kind == "rename" else second
            for edit in self._edits:
                if edit.kind == "rename to" and edit.at == rename.at:
                    return f"give the default to the new name, '{edit.place.text}'"
        return "keep one of the two"


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


class EditedNames:
    """The names that the edits at one place touch. Each may occur once, and none of `reserved`,
    which gives the reason by name.

    `default` and `add` may name the target of a `rename`: they set it if it is still missing. With
    `lower`, names are compared in lower case, as headers are.
    """

    def __init__(
        self,
        at: Path,
        faults: Faults,
        reserved: Mapping[str, str] | None = None,
        *,
        lower: bool = False,
    ) -> None:
        self._at = at
        self._faults = faults
        self._reserved = reserved or {}
        self._lower = lower
        self._kinds: dict[str, str] = {}
        self._targets: set[str] = set()
        self._renamed: dict[str, str] = {}

    def read(self, section: Mapping[str, Any]) -> None:
        """Note every edit of a section by its kind."""
        for index, name in enumerate(section.get("remove", ())):
            self._note(name, "remove", (*self._at, "remove", index), key=False)
        for old, new in section.get("rename", {}).items():
            at = (*self._at, "rename", old)
            self._note(old, "rename", at, key=True)
            self._note(new, "rename", at, key=False)
            self._targets.add(self._fold(new))
            self._renamed[self._fold(old)] = new
        for kind in ("default", "add", "set"):
            for name in section.get(kind, ()):
                self._note(name, kind, (*self._at, kind, name), key=True)

    def _note(self, name: str, kind: str, at: Path, *, key: bool) -> None:
        folded = self._fold(name)
        if folded in self._reserved:
            message = f"'{name}' cannot be edited"
            self._faults.add(at, RESERVED, message, self._reserved[folded], key=key)
        if kind in ("default", "add") and folded in self._targets:
            return
        if (other := self._kinds.get(folded)) is not None:
            message = f"'{name}' is edited twice, by '{other}' and by '{kind}'"
            hint = "keep one of the two"
            if kind in ("default", "add") and (new := self._renamed.get(folded)) is not None:
                hint = f"give the value to the new name, '{new}'"
            self._faults.add(at, CONFLICT, message, hint, key=key)
        self._kinds[folded] = kind

    def _fold(self, name: str) -> str:
        return name.lower() if self._lower else name
