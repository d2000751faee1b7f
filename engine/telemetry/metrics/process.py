"""Metrics of a worker process: memory, CPU time, version, config, its log, and the lag of its event
loop, for which all of its requests wait."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gevent

from engine.telemetry.health import ConfigStatus
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.values.metric import Collector, Sample, counter, gauge, histogram

WORKERS = gauge(
    "modelway_workers",
    "",
    "Worker processes that are alive, without the recorder and those for large requests.",
)
MEMORY = gauge(
    "modelway_resident_memory_bytes", "", "Resident memory of all workers and the recorder."
)
CPU = counter("modelway_cpu_seconds_total", "", "CPU time of all workers and the recorder.")
BUILD = gauge("modelway_build_info", "version python", "Always 1.", "livemax")
CONFIG = gauge(
    "modelway_config_info", "hash", "1 for the config in use, by its SHA-256.", "livemax"
)
CONFIG_LOADED = gauge(
    "modelway_config_loaded_timestamp_seconds",
    "",
    "When the config in use was read (Unix time; of several workers the oldest).",
    "livemin",
)
RELOAD_OK = gauge(
    "modelway_config_reload_success",
    "",
    "0 if the last reload of the config was refused, else 1.",
    "livemin",
)
LINES_LOST = counter(
    "modelway_log_lines_dropped_total", "", "Log lines dropped because their reader was too slow."
)

_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
INTERVAL = 0.1
"""Seconds between two observations."""
LAG = histogram(
    "modelway_loop_lag_seconds",
    "",
    "How late the event loop of a worker runs what is due; ten observations a second.",
    _SECONDS,
)


def process_collector(version: str, *, is_worker: bool = True) -> Collector:
    """This process; `version` is the gateway's. `is_worker`: it accepts connections."""

    def collect() -> Iterator[Sample]:
        yield BUILD, (version, platform.python_version()), 1.0
        yield WORKERS, (), float(is_worker)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        yield CPU, (), usage.ru_utime + usage.ru_stime
        if _STATM.exists():
            yield MEMORY, (), float(int(_STATM.read_text().split()[1]) * _PAGE_SIZE)

    return collect


def config_collector(status: ConfigStatus) -> Collector:
    """The config in use; each former one is reported as 0."""
    hashes: set[str] = set()

    def collect() -> Iterator[Sample]:
        status.refresh()
        for former in hashes - {status.hash}:
            yield CONFIG, (former,), 0.0
        hashes.add(status.hash)
        yield CONFIG, (status.hash,), 1.0
        yield CONFIG_LOADED, (), status.loaded
        yield RELOAD_OK, (), 0.0 if status.error else 1.0

    return collect


def log_collector(dropped: Callable[[], int]) -> Collector:
    """Log lines that were dropped."""
    return lambda: [(LINES_LOST, (), dropped())]


def watch_loop(
    worker_numbers: WorkerNumbers,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = gevent.sleep,
) -> None:
    """Observe the lag until the greenlet is killed."""
    while True:
        due = clock() + INTERVAL
        sleep(INTERVAL)
        worker_numbers.observe(LAG, (), max(0.0, clock() - due))
