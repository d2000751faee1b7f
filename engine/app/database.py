"""The database of tokens and usage of a config, and the journal of the ledger.

Imported only if a config has `stores.records`: the import of SQLAlchemy takes a tenth of a second.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import gevent

from engine.app.telemetry import WorkerTelemetry
from engine.callers.cache import TokenCache
from engine.callers.metrics import lookup_collector
from engine.config.config import Config
from engine.exchange.exchange import Exchange, Observer
from engine.plan.route import CannotConnect
from engine.stores.database.database import Database, open_database
from engine.stores.database.failures import DatabaseAway, DatabaseError
from engine.stores.database.migrate import upgrade
from engine.stores.database.tokens import caller_lookup
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal, JournalError
from engine.stores.ledger.metrics import ledger_collector
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger_entry import cancelled_entries, entry_of
from engine.telemetry.health import StoreCheck

_PING_TIMEOUT = 1.0
"""The timeout of a store's health check, in seconds."""


def prepare(url: str, journal: Path) -> str:
    """Create or upgrade the tables and the journal's folder. Returns a warning, or "". Raises
    CannotConnect."""
    try:
        Journal(journal).close()  # raises if it cannot be written
        database = open_database(url)
        try:
            upgrade(database)
        finally:
            database.close()
    except DatabaseAway as error:
        return f"the database is unavailable: {error}"
    except (DatabaseError, JournalError) as error:
        raise CannotConnect(str(error)) from error
    return ""


def token_cache(config: Config, url: str, telemetry: WorkerTelemetry) -> TokenCache:
    """The lookup of tokens, in the config and in the database."""
    database = open_database(url, busy=0.05)
    telemetry.closing.append(database.close)
    records = caller_lookup(database, config.currency)
    cache = TokenCache(config.tokens, records, ttl=config.stores.token_ttl)
    telemetry.collectors.append(lookup_collector(cache))
    # Until the first success, only the tokens of the config work.
    telemetry.health.checks["records"] = StoreCheck(
        partial(_ping_database, database),
        lambda connected: not connected and cache.lookups == cache.failed,
    )
    return cache


def _ping_database(database: Database) -> str:
    timeout = gevent.Timeout(_PING_TIMEOUT)
    try:
        with timeout:
            database.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    except DatabaseError as error:
        return str(error)
    except gevent.Timeout as error:
        if error is not timeout:
            raise
        return f"{database.display_url} does not answer in {_PING_TIMEOUT:g} s"
    return ""


def ledger(config: Config, url: str, telemetry: WorkerTelemetry) -> Observer:
    """The observer that writes the ledger entries of each request to the journal, which is shipped
    to the database. Raises CannotConnect."""
    try:
        journal = Journal(config.stores.journal)
    except JournalError as error:
        raise CannotConnect(str(error)) from error
    database = open_database(url)
    table = UsageTable(database, partial(upgrade, database))
    shipper = Shipper(journal.folder, table, retention=config.stores.retention)
    telemetry.closing.append(database.close)
    if telemetry.background:
        shipper.start()
        journal.start()
        telemetry.closing.append(shipper.close)
    telemetry.closing.append(journal.close)
    telemetry.collectors.append(ledger_collector(journal, shipper))

    def write_entries(exchange: Exchange) -> None:
        if exchange.operation:
            journal.append(entry_of(exchange, config.currency))
            if exchange.record.attempt_count > 1:
                for entry in cancelled_entries(exchange, config.currency):
                    journal.append(entry)

    return write_entries
