"""Tokens of open exchanges that are no longer valid, and the sweep that ends those exchanges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from engine.callers.jwt.identity import ends_of, is_signed
from engine.exchange import stage_services as services
from engine.exchange.exchange import Exchange
from engine.process.periodic import PeriodicTask
from engine.values.caller import Caller

if TYPE_CHECKING:
    from engine.callers.cache import TokenCache  # it imports SQLAlchemy

_PART_OF_TTL = 0.4
"""The age of a lookup, and the interval of the sweep, as parts of `token_ttl`: with the interval's
jitter of 20 % both together are shorter than it."""

_MIN_INTERVAL = 0.2
"""Seconds between two sweeps at least."""

REMOVED = 0.0
"""The end of a token that a later config no longer has."""

_NEVER = float("inf")

RemovedTokens = Callable[[], Mapping[str, float]]
"""Returns the digests of config tokens that a later config has removed, or lets expire earlier,
each with the end of its validity in Unix seconds; also the identities of signed tokens and subjects
that it has revoked, and of issuers that it has removed."""


class TokenValidity:
    """Says which tokens are revoked or expired. What cannot be looked up is not revoked.
    `revocations` are the identities that this worker's own config revokes: it has judged by them
    when a request began, entry by entry, so that they end no open one."""

    def __init__(
        self,
        configured: Mapping[str, Caller],
        records: TokenCache | None,
        ttl: float,
        ended: RemovedTokens,
        clock: Callable[[], float],
        revocations: Collection[str] = (),
    ) -> None:
        self._revocations = frozenset(revocations)
        self._configured = configured
        self._records = records
        self._ended = ended
        self._clock = clock
        self.interval = max(ttl * _PART_OF_TTL, _MIN_INTERVAL)

    def revoked(self, digests: Collection[str]) -> set[str]:
        """Those of the digests whose tokens are no longer valid."""
        ended, now = self._ended(), self._clock()
        revoked: set[str] = set()
        recorded: list[str] = []
        for digest in digests:
            if is_signed(digest):
                if any(end in ended and end not in self._revocations for end in ends_of(digest)):
                    revoked.add(digest)
                continue
            caller = self._configured.get(digest)
            if caller is None or ended.get(digest) == REMOVED:
                recorded.append(digest)
            elif _has_ended(caller, now) or ended.get(digest, _NEVER) <= now:
                revoked.add(digest)
        return revoked | self._revoked_in_records(recorded, now)

    def _revoked_in_records(self, digests: Collection[str], now: float) -> set[str]:
        """Those that the records do not know, or know as revoked or expired. While they cannot be
        read, only those that were in the config."""
        if self._records is None or not digests:
            return set(digests)
        callers = self._records.refresh(digests, self.interval)
        unknown = {d for d in digests if d not in callers and d in self._configured}
        return unknown | {digest for digest, caller in callers.items() if _has_ended(caller, now)}


def sweep(
    exchanges: Callable[[], Iterable[Exchange]],
    validity: services.TokenValidity,
    end: Callable[[Exchange], None],
    clock: Callable[[], float],
) -> PeriodicTask:
    """A task that ends the open exchanges whose token is no longer valid. That of another issuer
    says itself when it ends."""

    def has_expired(exchange: Exchange) -> bool:
        return exchange.caller is not None and _has_ended(exchange.caller, clock())

    def run(_: float) -> float:
        by_token: dict[str, list[Exchange]] = {}
        for exchange in list(exchanges()):
            if exchange.token and is_signed(exchange.token) and has_expired(exchange):
                end(exchange)
            elif exchange.token:
                by_token.setdefault(exchange.token, []).append(exchange)
        for digest in validity.revoked(by_token) if by_token else ():
            for exchange in by_token[digest]:
                end(exchange)
        return validity.interval

    return PeriodicTask(run, validity.interval)


def _has_ended(caller: Caller | None, now: float) -> bool:
    return caller is None or (caller.expires is not None and caller.expires <= now)
