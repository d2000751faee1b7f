"""The stores that a config asks for: prepared once before anything is served, opened in workers.

What a deployment does not use is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import gevent

from engine import policies
from engine.app.telemetry import Observing
from engine.config.model import Config, Policy
from engine.exchange.exchange import Exchange, Observer
from engine.exchange.services import Lookup, Services
from engine.stores.ledger.entry import entry_of
from engine.telemetry.health import StoreCheck
from engine.telemetry.metrics.requests import uncounted_collector
from engine.telemetry.metrics.stores import ledger_collector, lookup_collector
from engine.values.counters import Counters, CountersAway
from engine.values.runtime_dir import runtime_directory
from engine.values.wildcard import ByName

if TYPE_CHECKING:  # what a deployment does not use is not imported
    from engine.stores.counters.memory import MemoryCounters
    from engine.stores.counters.redis import RedisCounters
    from engine.stores.records.database import Database

_PATIENCE = 1.0
"""Seconds in which a store has to answer whether it is there."""


class CannotServe(Exception):
    """A plan cannot be served; `str` says why, in a sentence."""


class CannotConnect(CannotServe):
    """A store cannot be used as it is, and nothing may be served without it; `str` says why and
    what to do."""


def prepare(config: Config) -> str:
    """Make the database's tables, or bring them up to date, and the journal's folder. Returns a
    warning, or "".

    Raises CannotConnect. A database that is away for now is only warned of: tokens that stand in
    the config work without it.
    """
    if config.stores.records is None:
        return ""
    from engine.stores.ledger.journal import Journal, JournalError
    from engine.stores.records.database import open_database
    from engine.stores.records.failures import DatabaseAway, RecordsError
    from engine.stores.records.migrate import upgrade

    try:
        Journal(config.stores.journal).close()  # it can be written
        database = open_database(config.stores.records)
        try:
            upgrade(database)
        finally:
            database.close()
    except DatabaseAway as away:
        return f"the database is away: {away}"
    except (RecordsError, JournalError) as error:
        raise CannotConnect(str(error)) from error
    return ""


def services_of(config: Config, told: Observing | None = None) -> Services:
    """The services of one worker: to be made in it, after the fork. Raises CannotConnect.

    `told` is what it tells of itself, besides what it writes into the ledger.
    """
    told = told or Observing()
    tokens: Lookup = config.tokens
    observers, closing = told.observers, told.closing
    if config.stores.records is not None:
        tokens = _directory(config, config.stores.records, told)
        observers.append(_ledger(config, config.stores.records, told))
    begin: Observer | None = None
    if config.telemetry.traces is not None:
        from engine.app.tracing import tracing

        begin = tracing(config, config.telemetry.traces, told)
    return Services(
        tokens=tokens,
        counters=_counters(config, told) if _is_limited(config) else None,
        allow_uncounted=config.stores.on_store_failure == "allow",
        prices=ByName(config.prices),
        currency=config.currency,
        begin=begin,
        observers=observers,
        proxies=config.server.trusted_proxies,
        collectors=told.collectors,
        page=told.page,
        health=told.health,
        closing=closing,
    )


def _directory(config: Config, url: str, told: Observing) -> Lookup:
    from engine.callers.cache import TokenCache
    from engine.stores.records.database import open_database
    from engine.stores.records.tokens import callers

    database = open_database(url, busy=0.05)
    told.closing.append(database.close)
    records = callers(database, config.currency)
    made = TokenCache(config.tokens, records, ttl=config.stores.token_ttl)
    told.collectors.append(lookup_collector(made))
    # Without ever having seen the records only the config's tokens work.
    told.health.checks["records"] = StoreCheck(
        partial(_records_away, database), lambda seen: not seen
    )
    return made


def _records_away(database: Database) -> str:
    from engine.stores.records.failures import RecordsError

    limit = gevent.Timeout(_PATIENCE)
    try:
        with limit:
            database.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    except RecordsError as error:
        return str(error)
    except gevent.Timeout as late:
        if late is not limit:
            raise
        return f"{database.shown} does not answer in {_PATIENCE:g} s"
    return ""


def _ledger(config: Config, url: str, told: Observing) -> Observer:
    from engine.stores.ledger.journal import Journal, JournalError
    from engine.stores.ledger.shipper import Shipper
    from engine.stores.records.database import open_database
    from engine.stores.records.migrate import upgrade
    from engine.stores.records.usage import UsageTable

    try:
        journal = Journal(config.stores.journal)
    except JournalError as error:
        raise CannotConnect(str(error)) from error
    database = open_database(url)
    table = UsageTable(database, partial(upgrade, database))
    shipper = Shipper(journal, table, retention=config.stores.retention)
    if told.background:
        shipper.start()
    told.closing += [database.close, shipper.close if told.background else journal.close]
    told.collectors.append(ledger_collector(journal, shipper))

    def enter(exchange: Exchange) -> None:
        if exchange.operation:
            journal.append(entry_of(exchange, config.currency))

    return enter


def _counters(config: Config, told: Observing) -> Counters:
    stores = config.stores
    folder = runtime_directory(config.folder / FilePath(config.source.file).name)
    counters: Counters
    if stores.counters == "memory":
        counters = _memory(folder)
    else:
        from engine.stores.counters.redis import RedisCounters

        local = _memory(folder) if stores.on_store_failure == "local" else None
        redis = RedisCounters(
            stores.counters,
            timeout=stores.counters_timeout,
            folder=None if local is None else folder,
        )
        counters = redis
        denies = stores.on_store_failure == "deny"
        told.health.checks["counters"] = StoreCheck(
            partial(_counters_away, redis), lambda seen: denies
        )
        if local is not None:
            from engine.stores.counters.fallback import FallbackCounters

            counters = fallback = FallbackCounters(redis, local, machines=stores.machines)
            told.collectors.append(uncounted_collector(lambda: fallback.counted_locally))
    told.closing.append(counters.close)
    return counters


def _memory(folder: FilePath) -> MemoryCounters:
    """The counters that the workers of this machine share."""
    from engine.stores.counters.memory import MemoryCounters

    try:
        return MemoryCounters(folder)
    except OSError as error:
        raise CannotConnect(f"limits cannot be counted: {error}") from error


def _counters_away(redis: RedisCounters) -> str:
    try:
        redis.ping()
    except CountersAway as away:
        return str(away)
    return ""


def is_metered(config: Config) -> bool:
    """Whether anybody is to know what requests use: log, metrics, traces, ledger or limits."""
    told = config.telemetry
    logged = told.access_log.format != "off"
    return logged or bool(told.metrics) or told.traces is not None or _is_limited(config)


def _is_limited(config: Config) -> bool:
    """Whether anything may have to be counted; tokens in a database may have limits at any time."""
    listed: Iterable[Policy] = [*config.policies, *(p for r in config.routes for p in r.policies)]
    return (
        config.stores.records is not None
        or any(caller.limits for caller in config.tokens.values())
        or any(policies.is_limit(policy.name) for policy in listed)
    )
