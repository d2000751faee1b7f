"""Opens counters in Redis: in a single server, the master of a Sentinel, or a cluster."""

from __future__ import annotations

from pathlib import Path

from engine.config.stores import Stores
from engine.stores.counters.fallback import SharedCounters
from engine.stores.counters.redis.address import RedisOptions
from engine.stores.counters.redis.counters import ClusterCounters, RedisCounters


def open_redis(stores: Stores, folder: Path | None) -> SharedCounters:
    """The counters of one worker. Workers share the state of the servers in `folder`."""
    kind = ClusterCounters if "+cluster:" in stores.counters else RedisCounters
    return kind(stores.counters, redis_options(stores), folder=folder)


def redis_options(stores: Stores) -> RedisOptions:
    """The options that are not in the URL of the counters."""
    redis = stores.redis
    return RedisOptions(
        timeout=stores.counters_timeout,
        away_after=redis.away_after,
        connections=redis.connections,
        prefix=redis.prefix,
        ca=redis.tls.ca,
        certificate=redis.tls.certificate,
        key=redis.tls.key,
        sentinel_user=redis.sentinel.user,
        sentinel_password=redis.sentinel.password,
    )
