"""The parts of a request that a translation cannot carry: refused, or dropped and reported."""

from __future__ import annotations

import re
from urllib.parse import quote

from msgspec import Struct

from engine.translations.neutral.members import WrongType
from engine.values.wildcard import Patterns

_INDEX = re.compile(r"\[\d+\]")
_LONGEST_PLACE = 200
_MOST_FIELDS = 20
_SAFE = "".join(map(chr, range(0x21, 0x7F))).replace(",", "").replace("%", "")
_PLAIN = re.compile(rf"[a-zA-Z0-9_.\[\]-]{{0,{_LONGEST_PLACE}}}")
"""Nearly every place."""

_CUT_ESCAPE = re.compile(r"%.?$")


def visible_place(place: str) -> str:
    """A place, escaped for headers and messages, because callers choose the names in it: other than
    visible ASCII characters, commas and `%` are percent-encoded, and it is cut after 200 characters
    with "..."."""
    if _PLAIN.fullmatch(place):
        return place
    text = quote(place[: _LONGEST_PLACE + 1], safe=_SAFE, errors="replace")
    if len(text) <= _LONGEST_PLACE:
        return text
    return _CUT_ESCAPE.sub("", text[:_LONGEST_PLACE]) + "..."


class Loss(Struct, frozen=True):
    """A part of a request that the target's language has no form for: its place and the reason.

    `hint`: it does not change the answer (only cost, speed or bookkeeping), so it is dropped and
    reported even if nothing else may be dropped.
    """

    place: str
    reason: str = ""
    hint: bool = False

    @property
    def field(self) -> str:
        """The place without indexes: `messages[2].name` -> `messages.name`."""
        return _INDEX.sub("", self.place)


class Losses:
    """The losses of one translation, in the order in which they were added.

    `hints` are the wildcards over fields of the caller's language that are hints. `remainder_error`
    is the error if the turns that remain after drops are not a valid conversation, else None.
    """

    def __init__(self, hints: Patterns) -> None:
        self.losses: list[Loss] = []
        self.remainder_error: WrongType | None = None
        self._hints = hints
        self._withdrawn: list[Patterns] = []

    def add(self, place: str, reason: str = "", *, hint: bool = False) -> None:
        """Add a loss."""
        loss = Loss(place, reason, hint)
        if not hint and self._hints.match(loss.field):
            loss = Loss(place, reason, True)
        self.losses.append(loss)

    def withdraw(self, fields: Patterns) -> None:
        """Remove the losses of these fields, for which the target has a form after all. A second
        call with the same fields does nothing."""
        if not any(fields is withdrawn for withdrawn in self._withdrawn):
            self._withdrawn.append(fields)
            self.losses = [loss for loss in self.losses if not fields.match(loss.field)]

    def refusals(self, drop: Patterns) -> list[Loss]:
        """The losses that are neither hints nor covered by the wildcards in `drop`, the first of
        each field."""
        fields: dict[str, Loss] = {}
        for loss in self.losses:
            if not loss.hint:
                fields.setdefault(loss.field, loss)
        return [loss for field, loss in fields.items() if not drop.match(field)]

    def fields(self) -> list[str]:
        """The fields that were lost, each once and as `visible_place` writes it: the first 20, then
        the number of the others as "and 3 more"."""
        if not self.losses:
            return []
        fields = list(dict.fromkeys(visible_place(loss.field) for loss in self.losses))
        more = len(fields) - _MOST_FIELDS
        return fields if more <= 0 else [*fields[:_MOST_FIELDS], f"and {more} more"]
