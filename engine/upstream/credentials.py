"""The credentials of an upstream: which one is next. How a kind is put on a request is its own
business (`engine/credentials/`).

A credential whose response was 429 is set aside as long as Retry-After says; one that was refused
(401, 402, 403) for longer, because only an operator can correct it. A single credential is
never set aside: nothing could take its place, and the limit of one model need not hold for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from engine.credentials.interface.credential import LiveCredential

REFUSED_SECONDS = 60.0
"""Seconds for which a refused credential is set aside."""


class CredentialLimits(Protocol):
    """What is left of a vendor's rate limits for each credential (`health/target_limits.py`)."""

    def level(self, credential: LiveCredential | None, now: float, /) -> int:
        """0 with enough left, and more with less."""
        ...


class Credentials:
    """The credentials of one upstream in one worker, used in turn. Times are seconds of a monotonic
    clock."""

    __slots__ = ("_credentials", "_next", "_refused_until", "_resting_until")

    def __init__(self, credentials: Sequence[LiveCredential]) -> None:
        self._credentials = list(credentials)
        self._resting_until = [0.0] * len(self._credentials)
        self._refused_until = [0.0] * len(self._credentials)
        self._next = 0

    def take(self, now: float, limits: CredentialLimits | None = None) -> LiveCredential | None:
        """The next credential that is not set aside, one with enough left of its `limits` before
        others; None if there is none."""
        credentials = self._credentials
        if len(credentials) < 2:
            return credentials[0] if credentials else None
        best, best_level = None, 0
        for step in range(len(credentials)):
            index = (self._next + step) % len(credentials)
            if self._resting_until[index] > now:
                continue
            level = 0 if limits is None else limits.level(credentials[index], now)
            if best is None or level < best_level:
                best, best_level = index, level
            if not level:
                break
        if best is None:
            return None
        self._next = best + 1
        return credentials[best]

    @property
    def first(self) -> LiveCredential | None:
        """The first of them, None without any."""
        return self._credentials[0] if self._credentials else None

    def __len__(self) -> int:
        return len(self._credentials)

    def __iter__(self) -> Iterator[LiveCredential]:
        return iter(self._credentials)

    def set_aside(self, credential: LiveCredential, until: float, *, refused: bool = False) -> None:
        """Set a credential aside until a time, unless it is the only one."""
        if len(self._credentials) == 1:
            return
        index = self._credentials.index(credential)
        self._resting_until[index] = max(self._resting_until[index], until)
        if refused:
            self._refused_until[index] = self._resting_until[index]

    def all_refused(self, now: float) -> bool:
        """Whether each of them is set aside because the upstream refused it."""
        return bool(self._credentials) and min(self._refused_until) > now

    def wait(self, now: float) -> float:
        """Seconds until one of them can be used."""
        return max(0.0, min(self._resting_until, default=0.0) - now)
