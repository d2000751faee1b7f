"""What a worker does with the records of a config: finds callers by their tokens, and writes the
ledger's journal. It imports no database: the recorder does (`recorder_work.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.cache import TokenCache
from engine.callers.limits.request_names import tag_reader
from engine.callers.metrics import lookup_collector
from engine.callers.records import Records
from engine.config.config import Config
from engine.exchange.exchange import Exchange, Observer
from engine.plan.plan import CannotConnect, Plan
from engine.stores.ledger.journal import Journal, JournalError
from engine.stores.ledger.metrics import ledger_collector
from engine.stores.ledger_entry import cancelled_entries, entry_of
from engine.telemetry.health import StoreCheck
from engine.values.bounded_names import NameTables
from engine.values.tags import tags_text

if TYPE_CHECKING:
    from engine.stores.ledger.shipper import Shipper  # it imports SQLAlchemy


def open_records(
    plan: Plan, telemetry: WorkerTelemetry, records: Records, shipper: Shipper | None = None
) -> TokenCache:
    """The lookup of tokens; `telemetry` gets the ledger's observer. `shipper` is that of a process
    that uses the database itself. Raises CannotConnect."""
    config = plan.config
    telemetry.closing.append(records.close)
    telemetry.observers.append(_ledger(config, telemetry, shipper, _without_entry(plan)))
    return _token_cache(config, records, telemetry)


def _token_cache(config: Config, records: Records, telemetry: WorkerTelemetry) -> TokenCache:
    """The lookup of tokens, in the config and in the records."""
    cache = TokenCache(
        config.tokens, records.look_up, ttl=config.stores.token_ttl, teams=config.teams
    )
    telemetry.collectors.append(lookup_collector(cache))
    # Until the first success, only the tokens of the config work.
    telemetry.health.checks["records"] = StoreCheck(
        records.ping, lambda connected: not connected and cache.lookups == cache.failed
    )
    return cache


def _without_entry(plan: Plan) -> frozenset[str]:
    """The operations whose requests have no entry in the ledger: what tells a caller of its usage
    would else be usage."""
    answers = ((route.operation.id, route.answer) for route in plan.routes)
    return frozenset({"", *(name for name, answer in answers if answer and answer.is_free)})


def _ledger(
    config: Config,
    telemetry: WorkerTelemetry,
    shipper: Shipper | None,
    without_entry: Collection[str],
) -> Observer:
    """The observer that writes the ledger entries of each request to the journal."""
    try:
        journal = Journal(config.stores.journal)
    except JournalError as error:
        raise CannotConnect(str(error)) from error
    if telemetry.background:
        journal.start()
        if shipper is not None:
            shipper.start()
    telemetry.closing.append(journal.close)
    telemetry.collectors.append(ledger_collector(journal, shipper))

    tags = tag_reader({tag.name: tag.place for tag in config.tags}, NameTables())
    has_tags = bool(config.tags)

    def write_entries(exchange: Exchange) -> None:
        if exchange.operation not in without_entry:
            entry = entry_of(exchange, config.currency)
            if has_tags:
                entry = entry._replace(tags=tags_text(tags(exchange)))
            journal.append(entry)
            if exchange.record.attempt_count > 1:
                for entry in cancelled_entries(exchange, config.currency):
                    journal.append(entry)

    return write_entries
