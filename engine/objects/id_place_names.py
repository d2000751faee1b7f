"""At which places of ids a JSON text or a form may have one, by the names in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from engine.objects.id_places import ANY, ANY_DEPTH, IdPlace, JsonName, spellings

StepNames = tuple[tuple[bytes, ...], ...]


class PlaceNames:
    """The names of members on the way to some places. `are_known`: they are those of each place;
    a place whose names cannot be said may be in any text. With `lower` they are those of texts in
    lower case."""

    def __init__(
        self,
        places: Sequence[IdPlace],
        json_name: JsonName | None = None,
        *,
        lower: bool = False,
    ) -> None:
        self._of = [(place, names_of(place.steps, json_name, lower=lower)) for place in places]
        self.are_known = all(names for _, names in self._of)

    def places_in(self, text: bytes) -> list[IdPlace]:
        """The places that a text without escaped names may have: a text that lacks a name on the
        way to a place has nothing there."""
        return [place for place, names in self._of if _has_each(text, names)]

    @property
    def signs(self) -> tuple[bytes, ...]:
        """Names of which a text without escaped names has one if it has any of the places; none if
        that cannot be said."""
        if not self.are_known:
            return ()
        return tuple(sorted({name for _, names in self._of for name in sign_of(names)}))

    def count(self, text: bytes, places: Sequence[IdPlace]) -> int:
        """How often a text has the last names of these places."""
        last = {name for place, names in self._of if place in places for name in names[0]}
        return sum(text.count(name) for name in last)


class FieldPlaces:
    """The places of a form or query, by the names of its fields: `a[b]` for the pointer `a/b`."""

    def __init__(self, places: Sequence[IdPlace]) -> None:
        self._by_name = [(_field_of(place.steps), place) for place in places]
        # The outermost fields of those that have ids in fields inside of them.
        self._roots = {name.partition("[")[0] for name, _ in self._by_name if "[" in name}

    def place_of(self, name: str | None) -> IdPlace | None:
        """The place of a field; None if it has no ids."""
        for field, place in self._by_name:
            if name is not None and (name == field or name.startswith(f"{field}[")):
                return place
        return None

    def are_inside(self, name: str) -> bool:
        """Whether fields inside of a field may have ids."""
        return bool(self._roots) and name.partition("[")[0] in self._roots


def _field_of(steps: Sequence[str]) -> str:
    """The name of the field at a pointer, up to its first wildcard: `a[b]` for `a/b/*`."""
    names = [*itertools.takewhile(lambda step: not step.startswith("*"), steps[1:])]
    return steps[0] + "".join(f"[{name}]" for name in names)


def sign_of(names: StepNames) -> tuple[bytes, ...]:
    """The spellings of the longer one of the last two names of a pointer: the rarer one, most
    likely, as `id` is short and `messages` is at the top."""
    return max(names[:2], key=lambda step: len(step[0]), default=())


def _has_each(text: bytes, names: StepNames) -> bool:
    for names_of_step in names:
        for name in names_of_step:
            if text.rfind(name) >= 0:
                break
        else:
            return False
    return True


def names_of(
    pointer: Sequence[str], json_name: JsonName | None = None, *, lower: bool = False
) -> StepNames:
    """The spellings of each name of a pointer, in quotes, the last name first; none if that may be
    written in other ways. With `lower` they are in lower case."""
    steps = [s for s in pointer if s not in (ANY, ANY_DEPTH) and not s.isdecimal()]
    if not steps or not all(s.isascii() and s.replace("_", "a").isalnum() for s in steps):
        return ()
    return tuple(
        tuple(
            f'"{name.lower() if lower else name}"'.encode() for name in spellings(step, json_name)
        )
        for step in reversed(steps)
    )
