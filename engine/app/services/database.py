"""The database of tokens and usage of a config, for the process that uses it: the recorder.

Imported there only: SQLAlchemy takes a tenth of a second, and more memory than all requests of a
worker.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.record_service import ping_within
from engine.config.config import Config
from engine.exchange.stage_services import UsageSums
from engine.plan.plan import CannotConnect
from engine.stores.database.batches import BatchTable
from engine.stores.database.caller_sums import CallerSums
from engine.stores.database.expiring_values import ExpiringValues
from engine.stores.database.failures import DatabaseAway, DatabaseError
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import TokenList, caller_lookup
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal, JournalError
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger.writer import in_thread

_LEDGER_CONNECTIONS = 2
"""The connections for sums and lists of callers, of which look-ups of tokens use none."""


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


class DatabaseRecords:
    """The records of a database, asked by this process itself."""

    def __init__(self, config: Config, url: str) -> None:
        self._database = open_database(url, busy=0.05)
        self.look_up = caller_lookup(self._database, config.currency)
        self.responses = ExpiringValues(self._database)
        self.batches = BatchTable(self._database)
        self._ledger = open_database(url, busy=0.05, pool=_LEDGER_CONNECTIONS)
        self.tokens = TokenList(self._ledger, config.currency)
        self.sums: UsageSums = CallerSums(self._ledger)
        if self._ledger.kind == "sqlite":
            self.sums = SumsInThread(self.sums)

    def ping(self) -> str:
        """Why the database cannot be reached, or ""."""
        query = "SELECT 1"
        return ping_within(lambda: self._database.read(lambda c: c.exec_driver_sql(query).scalar()))

    def close(self) -> None:
        self._database.close()
        self._ledger.close()


class SumsInThread:
    """Sums of SQLite, whose queries block their thread."""

    def __init__(self, sums: UsageSums) -> None:
        self._sums = sums

    def sums(self, *arguments: Any) -> list[dict[str, Any]] | None:
        return in_thread(lambda: self._sums.sums(*arguments))

    def requests(self, *arguments: Any) -> list[dict[str, Any]] | None:
        return in_thread(lambda: self._sums.requests(*arguments))


def open_shipper(config: Config, url: str, telemetry: WorkerTelemetry) -> Shipper:
    """What ships the journal's files to the database, until `telemetry` is closed."""
    database = open_database(url)
    table = UsageTable(database, partial(upgrade, database))
    shipper = Shipper(config.stores.journal, table, retention=config.stores.retention)
    telemetry.closing += [database.close, shipper.close]
    return shipper
