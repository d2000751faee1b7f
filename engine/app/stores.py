"""The stores of a config: prepared once before anything is served, then opened in each worker.

Modules that a deployment does not use are not imported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from engine import policies
from engine.app.telemetry import WorkerTelemetry
from engine.callers.revocation import EndedTokens, TokenValidity
from engine.config.config import Config
from engine.config.default_prices import default_prices
from engine.config.routes import Policy
from engine.credentials.interface.credential import Credential, LiveCredential, OpenCredential
from engine.exchange.exchange import Observer
from engine.exchange.services import Lookup, Services
from engine.machine.state import SharedState
from engine.plan.route import CannotConnect, Plan
from engine.telemetry.health import StoreCheck
from engine.telemetry.metrics.requests import uncounted_collector
from engine.upstream import choose
from engine.values.admission import AdmissionQueues
from engine.values.counters import Counters, CountersAway
from engine.values.file_descriptors import is_exhausted
from engine.values.machine_state import LocalState, MachineState
from engine.values.periodic import PeriodicTask
from engine.values.price import Prices
from engine.values.runtime_dir import NoWritableFolder, runtime_directory

if TYPE_CHECKING:
    from engine.callers.cache import TokenCache
    from engine.stores.counters.fallback import SharedCounters
    from engine.stores.counters.memory import MemoryCounters

_RELEASE_SECONDS = 1.0
"""Seconds between two checks for killed workers, whose counts are then released."""


def prepare(config: Config) -> str:
    """Create or upgrade the database's tables and the journal's folder. Returns a warning, or "".

    Raises CannotConnect. A database that is unavailable is only a warning: tokens of the config
    work without it.
    """
    if config.stores.records is None:
        return ""
    from engine.app import records

    return records.prepare(config.stores.records, config.stores.journal)


def services_of(
    plan: Plan, telemetry: WorkerTelemetry | None = None, ended: EndedTokens = dict
) -> Services:
    """The services of one worker, to be called in it, after the fork. Raises CannotConnect.

    `telemetry` has the logs and metrics of the worker; the stores add to it. `ended` returns the
    tokens of the config that have been removed from its files since.
    """
    config, telemetry = plan.config, telemetry or WorkerTelemetry()
    tokens: Lookup = config.tokens
    recorded: TokenCache | None = None
    observers, closing = telemetry.observers, telemetry.closing
    if config.stores.records is not None:
        from engine.app import records

        tokens = recorded = records.token_cache(config, config.stores.records, telemetry)
        observers.append(records.ledger(config, config.stores.records, telemetry))
    begin: Observer | None = None
    if config.telemetry.traces is not None:
        from engine.app.tracing import tracing

        begin = tracing(config, config.telemetry.traces, telemetry)
    return Services(
        tokens=tokens,
        counters=_counters(config, telemetry) if _is_limited(plan) else None,
        allow_uncounted=config.stores.on_store_failure == "allow",
        prices=Prices(config.prices, default_prices(config)),
        currency=config.currency,
        token_validity=_token_validity(config, recorded, ended),
        begin=begin,
        observers=observers,
        proxies=config.server.trusted_proxies,
        collectors=telemetry.collectors,
        page=telemetry.page,
        health=telemetry.health,
        queues=_queues(plan, telemetry),
        machine=_machine_state(config, telemetry),
        background=telemetry.background,
        closing=closing,
    )


def _token_validity(
    config: Config, recorded: TokenCache | None, ended: EndedTokens
) -> TokenValidity | None:
    if not config.stores.end_revoked:
        return None
    return TokenValidity(config.tokens, recorded, config.stores.token_ttl, ended, time.time)


def _machine_state(config: Config, telemetry: WorkerTelemetry) -> MachineState:
    """The state that the workers of this machine share; a rehearsal has its own."""
    if not telemetry.background:
        return LocalState()
    try:
        state = SharedState(_runtime_directory(config) / "machine")
    except OSError as error:
        raise CannotConnect(f"the workers cannot share their state: {error}") from error

    def release(_: float) -> float:
        try:
            state.release_dead_slots()
        except OSError as error:
            if not is_exhausted(error):  # without a free descriptor, try again in a second
                raise
        return _RELEASE_SECONDS

    task = PeriodicTask(release, _RELEASE_SECONDS)
    task.start()
    telemetry.closing.insert(0, state.close)  # closed last: metrics are sampled once more
    telemetry.closing.append(lambda: task.stop(_RELEASE_SECONDS))
    return state


def _queues(plan: Plan, telemetry: WorkerTelemetry) -> AdmissionQueues | None:
    """The queues of upstreams with `max_in_flight`; None in a rehearsal, which must not take places
    from requests."""
    if not telemetry.background or not _is_bounded(plan):
        return None
    from engine.stores.admission.shared_queue import QueueFolder

    try:
        folder = QueueFolder(_runtime_directory(plan.config) / "admission")
    except OSError as error:
        raise CannotConnect(f"requests in flight cannot be counted: {error}") from error
    telemetry.closing.insert(0, folder.close)  # as the state of the machine
    return folder


def _is_bounded(plan: Plan) -> bool:
    """Whether an upstream or a target has a bound of requests at one time."""
    config = plan.config
    lists = [model.to for model in config.models.values()] + [route.to for route in plan.routes]
    bounds = [upstream.max_in_flight for upstream in config.upstreams.values()]
    bounds += [target.max_in_flight for targets in lists for target in targets]
    return any(bound is not None for bound in bounds)


def open_shared(config: Config) -> OpenCredential:
    """A function that opens credentials, whose tokens the workers of this machine share. If no
    folder is writable, each worker fetches its own."""
    try:
        folder: FilePath | None = _runtime_directory(config)
    except NoWritableFolder:
        folder = None

    def open_credential(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
        return credential.open(folder, changed)

    return open_credential


def _runtime_directory(config: Config) -> FilePath:
    file = config.folder / FilePath(config.source.file).name
    return runtime_directory(file, config.overlays)


def _counters(config: Config, telemetry: WorkerTelemetry) -> Counters:
    stores = config.stores
    folder = _runtime_directory(config)
    counters: Counters
    if stores.counters == "memory":
        counters = _memory(folder)
    else:
        from engine.app.redis import open_redis

        local = _memory(folder) if stores.on_store_failure == "local" else None
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


def _memory(folder: FilePath) -> MemoryCounters:
    """The counters in the shared memory of this machine."""
    from engine.stores.counters.memory import MemoryCounters

    try:
        return MemoryCounters(folder)
    except OSError as error:
        raise CannotConnect(f"limits cannot be counted: {error}") from error


def _ping_counters(redis: SharedCounters) -> str:
    try:
        redis.ping()
    except CountersAway as error:
        return str(error)
    return ""


def is_metered(plan: Plan) -> bool:
    """Whether usage is needed: for the access log, metrics, traces, the ledger, limits, or the
    choice of targets by their answer times."""
    config, telemetry = plan.config, plan.config.telemetry
    has_log = telemetry.access_log.format != "off"
    traces = telemetry.traces is not None
    is_recorded = has_log or bool(telemetry.metrics) or traces
    choices = [model.choose for model in config.models.values()]
    choices += [route.choose for route in plan.routes]
    by_time = any(choose.kind_of(choice).by_time for choice in choices)
    return is_recorded or by_time or _is_limited(plan)


def _is_limited(plan: Plan) -> bool:
    """Whether there may be quotas; tokens in a database may get quotas at any time."""
    config = plan.config
    all_policies: Iterable[Policy] = (
        *config.policies,
        *(policy for route in plan.routes for policy in route.policies),
    )
    return (
        config.stores.records is not None
        or any(caller.limits for caller in config.tokens.values())
        or any(policies.is_limit(policy.name) for policy in all_policies)
    )
