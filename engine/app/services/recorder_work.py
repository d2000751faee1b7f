"""The recorder: a process beside the workers that does what is no request's work and uses the
database. It ships the journal, computes sums, deletes old rows, looks up tokens and calls webhooks.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import gevent

from engine.app.services.database import DatabaseRecords, open_shipper
from engine.app.services.telemetry import WorkerTelemetry, recorder_telemetry
from engine.app.services.webhooks import start_deliveries
from engine.callers.record_service import RecordService
from engine.config.config import Config
from engine.exchange.stage_services import Services
from engine.process.channel import Channel
from engine.process.periodic import PeriodicTask
from engine.stores.database.failures import DatabaseError
from engine.stores.ledger.metrics import ledger_collector

log = logging.getLogger("modelway")

_UPKEEP_SECONDS = 3600.0


def _remove_expired(records: DatabaseRecords, wait: float) -> float:
    """Delete the stored responses that have expired."""
    try:
        records.responses.remove_expired(time.time())
    except DatabaseError as error:
        log.warning("stored responses that have expired cannot be deleted: %s", error)
    return wait


def run_recorder(config: Config, folder: Path | None, channel: Channel) -> None:
    """Serve the workers behind a channel until none is left; then ship the rest. To be called in
    the recorder's process, after the fork. `folder` is that of the metrics, None without."""
    telemetry = recorder_telemetry(config, folder)
    with closing(Services(closing=telemetry.closing)):
        if config.webhooks:
            start_deliveries(config, telemetry)
        url = config.stores.records
        service = None if url is None else _open_records(config, url, telemetry)
        while (descriptors := channel.receive()) is not None:
            for descriptor in descriptors:
                if service is not None:  # without records, no worker asks
                    gevent.spawn(service.serve, descriptor)


def _open_records(config: Config, url: str, telemetry: WorkerTelemetry) -> RecordService:
    """Ship the journal from now on; the service that answers workers."""
    shipper = open_shipper(config, url, telemetry)
    telemetry.collectors.append(ledger_collector(shipper=shipper))
    records = DatabaseRecords(config, url)
    telemetry.closing.append(records.close)
    shipper.start()
    upkeep = PeriodicTask(partial(_remove_expired, records), _UPKEEP_SECONDS)
    telemetry.closing.append(lambda: upkeep.stop(1.0))
    upkeep.start()
    return RecordService(records)
