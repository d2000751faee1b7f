"""What a translation cannot carry: refused, or dropped and named."""

from __future__ import annotations

import re

from msgspec import Struct

from engine.values.wildcard import Patterns

_INDEX = re.compile(r"\[\d+\]")


class Loss(Struct, frozen=True):
    """A part of a request that the target's language has no form for: its place and the reason.

    `hint`: it changes no answer (only cost, speed or bookkeeping), so it is dropped and named even
    where nothing else may be.
    """

    place: str
    reason: str = ""
    hint: bool = False

    @property
    def field(self) -> str:
        """The place without indexes: `messages[2].name` -> `messages.name`."""
        return _INDEX.sub("", self.place)


class Losses:
    """The losses of one translation, in the order in which they were noted.

    `hints` are the wildcards over fields of the caller's language that are hints.
    """

    def __init__(self, hints: Patterns) -> None:
        self.losses: list[Loss] = []
        self._hints = hints

    def add(self, place: str, reason: str = "", *, hint: bool = False) -> None:
        """Note a loss."""
        loss = Loss(place, reason, hint)
        if not hint and self._hints.match(loss.field):
            loss = Loss(place, reason, True)
        self.losses.append(loss)

    def refused(self, drop: Patterns) -> Loss | None:
        """The first loss that is neither a hint nor covered by the wildcards in `drop`."""
        return next((o for o in self.losses if not (o.hint or drop.match(o.field))), None)

    def fields(self) -> list[str]:
        """The fields that were lost, each once."""
        return list(dict.fromkeys(loss.field for loss in self.losses))
