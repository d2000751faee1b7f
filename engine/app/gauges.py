"""What the metrics have to ask for: nobody tells them, so they look once a second."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.stages import would_reject
from engine.telemetry.metrics import definitions
from engine.values.metric import Read, Reading

if TYPE_CHECKING:  # what a deployment does not use is not imported
    from engine.callers.cache import Directory
    from engine.stores.counters.fallback import Fallback
    from engine.stores.ledger.journal import Journal
    from engine.stores.ledger.shipper import Shipper
    from engine.telemetry.tracing.exporter import Exporter
    from engine.upstream.target import Upstream

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")


def of_process(version: str) -> Read:
    """The worker itself."""

    def read() -> Iterator[Reading]:
        yield definitions.BUILD, (version, platform.python_version()), 1.0
        yield definitions.WORKERS, (), 1.0
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield definitions.CPU, (), used.ru_utime + used.ru_stime
        if _STATM.exists():
            yield definitions.MEMORY, (), float(int(_STATM.read_text().split()[1]) * _PAGE)

    return read


def of_upstreams(upstreams: Mapping[str, Upstream]) -> Read:
    """Breakers and connections."""

    def read() -> Iterator[Reading]:
        now = time.monotonic()
        for name, upstream in upstreams.items():
            for entry, breaker in upstream.breakers.items():
                yield definitions.BREAKER, (name, "/".join(filter(None, entry))), breaker.state(now)
            idle, busy = upstream.client.connections
            yield definitions.POOL, (name, "idle"), idle
            yield definitions.POOL, (name, "busy"), busy

    return read


def of_lifecycle(opened: Callable[[], int], sessions: Callable[[], int]) -> Read:
    """What is under way."""

    def read() -> Iterator[Reading]:
        yield definitions.IN_FLIGHT, (), opened()
        yield definitions.SESSIONS, (), sessions()

    return read


def of_ledger(journal: Journal, shipper: Shipper) -> Read:
    """How far the database is behind."""

    def read() -> Iterator[Reading]:
        lag = shipper.lag()
        yield definitions.LEDGER_ROWS, (), lag.rows
        yield definitions.LEDGER_AGE, (), lag.seconds
        yield definitions.LEDGER_LOST, (), journal.lost
        yield definitions.LEDGER_REFUSED, (), shipper.refused
        yield definitions.LEDGER_SHIPPED, (), shipper.shipped

    return read


def of_directory(directory: Directory) -> Read:
    """How tokens are looked up."""

    def read() -> Iterator[Reading]:
        for result in ("asked", "failed", "unknown", "stale"):
            yield definitions.LOOKUPS, (result,), getattr(directory, result)
        yield definitions.RECORDS_AWAY, (), float(directory.away)

    return read


def of_reports() -> Read:
    """What was let through although it is not as its document says."""

    def read() -> Iterator[Reading]:
        for labels, count in list(would_reject.codes.items()):
            yield definitions.WOULD_REJECT, labels, count

    return read


def of_counters(counters: Fallback) -> Read:
    """How often limits were counted without Redis."""

    def read() -> Iterator[Reading]:
        yield definitions.UNCOUNTED, (), counters.counted_locally

    return read


def of_exporter(exporter: Exporter) -> Read:
    """Whether spans get to their collector."""

    def read() -> Iterator[Reading]:
        yield definitions.SPANS_SENT, (), exporter.exported
        yield definitions.SPANS_LOST, (), exporter.lost

    return read
