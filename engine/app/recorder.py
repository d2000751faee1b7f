"""The recorder: a process beside the workers that does what is no request's work and uses the
database. It ships the journal, computes sums, deletes old rows and looks up tokens.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import gevent

from engine.app.database import DatabaseRecords, open_shipper
from engine.app.telemetry import recorder_telemetry
from engine.callers.records import RecordService
from engine.config.config import Config
from engine.exchange.services import Services
from engine.process.channel import Channel
from engine.stores.ledger.metrics import ledger_collector


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
        service = RecordService(records)
        while (descriptors := channel.receive()) is not None:
            for descriptor in descriptors:
                gevent.spawn(service.serve, descriptor)
