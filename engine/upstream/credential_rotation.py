"""What an upstream is shown: one of several credentials in turn, and those that rest left out.

A credential that hit 429 rests for as long as the upstream asked; one that was refused (401, 402,
403) rests longer, because only an operator can mend it. A single one never rests: there is nothing
to use in its place, and what one model's limit says need not hold for the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.model import Credential

REFUSED_REST = 60.0
"""Seconds that a refused credential is left out."""


class Credentials:
    """The credentials of one upstream in one worker. Times are seconds of a steady clock."""

    __slots__ = ("_every", "_next", "_refused", "_rests")

    def __init__(self, every: Sequence[Credential]) -> None:
        self._every = list(every)
        self._rests = [0.0] * len(self._every)
        self._refused = [0.0] * len(self._every)
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self._every)

    def take(self, now: float) -> Credential | None:
        """The next one that does not rest; None when there is none (or none at all)."""
        for step in range(len(self._every)):
            index = (self._next + step) % len(self._every)
            if self._rests[index] <= now:
                self._next = index + 1
                return self._every[index]
        return None

    def rest(self, credential: Credential, until: float, *, refused: bool = False) -> None:
        """Leave a credential out until then, if there are others."""
        if len(self._every) == 1:
            return
        index = self._every.index(credential)
        self._rests[index] = max(self._rests[index], until)
        if refused:
            self._refused[index] = self._rests[index]

    def all_refused(self, now: float) -> bool:
        """Whether none can be used because the upstream has refused each of them."""
        return bool(self._every) and min(self._refused) > now

    def wait(self, now: float) -> float:
        """Seconds until one of them can be used."""
        return max(0.0, min(self._rests, default=0.0) - now)
