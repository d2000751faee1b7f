"""The recorder: a process beside the workers that does what is no request's work and uses the
database. It ships the journal, computes sums, deletes old rows and looks up tokens.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import gevent

from engine.app.database import DatabaseRecords, open_shipper
from engine.app.telemetry import recorder_telemetry
from engine.callers.records import RecordService
from engine.config.config import Config
from engine.exchange.services import Services
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


def record(config: Config, folder: Path | None, channel: Channel) -> None:
    """Serve the workers behind a channel until none is left; then ship the rest. To be called in
    the recorder's process, after the fork. `folder` is that of the metrics, None without."""
    url = config.stores.records
    assert url is not None
    telemetry = recorder_telemetry(config, folder)
    with closing(Services(closing=telemetry.closing)):
        shipper = open_shipper(config, url, telemetry)
        telemetry.collectors.append(ledger_collector(shipper=shipper))
        records = DatabaseRecords(config, url)
        telemetry.closing.append(records.close)
        shipper.start()
        upkeep = PeriodicTask(partial(_remove_expired, records), _UPKEEP_SECONDS)
        telemetry.closing.append(lambda: upkeep.stop(1.0))
        upkeep.start()
        service = RecordService(records)
        while (descriptors := channel.receive()) is not None:
            for descriptor in descriptors:
                gevent.spawn(service.serve, descriptor)
