"""The counters of limits: in the memory of this machine, or in Redis.

Modules that a deployment does not use are not imported.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.app.services.machine_stores import memory_counters, runtime_directory_of
from engine.app.services.telemetry import WorkerTelemetry
from engine.config.config import Config
from engine.telemetry.health import StoreCheck
from engine.telemetry.metrics.requests import uncounted_collector
from engine.values.counters import Counters, CountersAway

if TYPE_CHECKING:
    from engine.stores.counters.fallback import SharedCounters


def counters_of(config: Config, telemetry: WorkerTelemetry) -> Counters:
    stores = config.stores
    folder = runtime_directory_of(config)
    counters: Counters
    if stores.counters == "memory":
        counters = memory_counters(folder)
    else:
        from engine.app.services.redis_counters import open_redis

        local = memory_counters(folder) if stores.on_store_failure == "local" else None
        redis = open_redis(stores, None if local is None else folder)
        counters = redis
        denies = stores.on_store_failure == "deny"
        telemetry.health.checks["counters"] = StoreCheck(
            partial(_ping_counters, redis), lambda connected: denies
        )
        if local is not None:
            from engine.stores.counters.fallback import FallbackCounters

            counters = fallback = FallbackCounters(redis, local, machines=stores.machines)
            telemetry.collectors.append(uncounted_collector(lambda: fallback.counted_locally))
    telemetry.closing.append(counters.close)
    return counters


def _ping_counters(redis: SharedCounters) -> str:
    try:
        redis.ping()
    except CountersAway as error:
        return str(error)
    return ""
