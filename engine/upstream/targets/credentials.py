"""The credentials of an upstream, used in turn. `engine/credentials/` adds them to requests.

After a 429 a credential is set aside for the time of Retry-After; after a refusal (401, 402, 403)
for longer, because only an operator can correct it. The only credential of an upstream is never set
aside: there is no other one, and the limit of one model need not hold for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from engine.credentials.interface.credential import LiveCredential

REFUSED_SECONDS = 60.0
"""Seconds for which a refused credential is set aside."""


class CredentialLimits(Protocol):
    """The rest of a vendor's rate limits, for each credential (`health/target_limits.py`)."""

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
        """The next credential that is not set aside, those with enough left of their `limits`
        first; None if all are set aside, or without any."""
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
        """The first credential, None without any."""
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
        """Whether every credential is set aside because the upstream refused it."""
        return bool(self._credentials) and min(self._refused_until) > now

    def wait(self, now: float) -> float:
        """Seconds until a credential can be used."""
        return max(0.0, min(self._resting_until, default=0.0) - now)
