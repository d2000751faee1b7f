"""Metrics of the lookups of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.exchange.stage_services import ClientSecretKeys
from engine.values.metric import Collector, Sample, counter, gauge

if TYPE_CHECKING:
    from engine.callers.cache import TokenCache  # it imports SQLAlchemy

LOOKUPS = counter(
    "modelway_token_lookups_total",
    "result",
    "Token lookups in the database: asked, failed, unknown (not in the database), stale "
    "(answered from memory while the database is unreachable).",
)
RECORDS_AWAY = gauge(
    "modelway_records_away", "", "1 while the database of tokens cannot be reached.", "livemax"
)


CLIENT_SECRETS = counter(
    "modelway_client_secrets_total",
    "result",
    "Client secrets: issued, accepted at a session, expired, invalid (forged, changed, of a token "
    "that ended, or for another operation).",
)


def client_secret_collector(keys: ClientSecretKeys) -> Collector:
    """Client secrets by result."""

    def collect() -> Iterator[Sample]:
        yield CLIENT_SECRETS, ("issued",), keys.issued
        yield CLIENT_SECRETS, ("accepted",), keys.accepted
        yield CLIENT_SECRETS, ("expired",), keys.expired
        yield CLIENT_SECRETS, ("invalid",), keys.invalid

    return collect


def lookup_collector(cache: TokenCache) -> Collector:
    """Token lookups by result."""

    def collect() -> Iterator[Sample]:
        yield LOOKUPS, ("asked",), cache.lookups
        yield LOOKUPS, ("failed",), cache.failed
        yield LOOKUPS, ("unknown",), cache.unknown
        yield LOOKUPS, ("stale",), cache.stale
        yield RECORDS_AWAY, (), float(cache.away)

    return collect
