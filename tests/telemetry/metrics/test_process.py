"""A worker collects the metrics of its process, its config and its telemetry."""

from __future__ import annotations

import platform

import pytest

from engine.telemetry.health import ConfigStatus
from engine.telemetry.metrics import process
from engine.telemetry.metrics.process import INTERVAL, LAG, watch_loop
from engine.values.metric import Metric


def values(collector):
    return {(metric, *labels): value for metric, labels, value in collector()}


def test_a_process_reports_itself():
    samples = values(process.process_collector("1.2"))
    assert samples[process.WORKERS,] == 1.0
    assert values(process.process_collector("1.2", is_worker=False))[process.WORKERS,] == 0.0
    assert samples[process.CPU,] > 0
    assert samples[process.MEMORY,] > 1_000_000
    assert samples[process.BUILD, "1.2", platform.python_version()] == 1.0


def test_a_former_config_is_reported_as_zero():
    status = ConfigStatus("a", 100.0)
    collect = process.config_collector(status)
    assert values(collect) == {
        (process.CONFIG, "a"): 1.0,
        (process.CONFIG_LOADED,): 100.0,
        (process.RELOAD_OK,): 1.0,
    }
    status.hash, status.loaded, status.error = "b", 200.0, "gateway.yaml:3:1: no such upstream"
    assert values(collect) == {
        (process.CONFIG, "a"): 0.0,
        (process.CONFIG, "b"): 1.0,
        (process.CONFIG_LOADED,): 200.0,
        (process.RELOAD_OK,): 0.0,
    }


def test_a_config_status_is_read_from_its_source():
    states = [("a", 100.0, ""), ("b", 200.0, "refused"), None]
    collect = process.config_collector(ConfigStatus(source=lambda: states.pop(0)))
    assert values(collect)[process.CONFIG, "a"] == 1.0
    assert values(collect)[process.RELOAD_OK,] == 0.0
    assert values(collect)[process.CONFIG, "b"] == 1.0, "no news: the former status remains"


def test_dropped_lines_are_collected():
    assert values(process.log_collector(lambda: 3)) == {(process.LINES_LOST,): 3}


class WorkerNumbers:
    def __init__(self) -> None:
        self.observed: list[float] = []

    def observe(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        assert (metric, labels) == (LAG, ())
        self.observed.append(value)


class Over(Exception):
    pass


def test_what_is_late_is_observed() -> None:
    worker_numbers, now, lags = WorkerNumbers(), [100.0], iter([0.0, 0.25, -0.001])

    def sleep(seconds: float) -> None:
        lag = next(lags, None)
        if lag is None:
            raise Over
        now[0] += seconds + lag

    with pytest.raises(Over):
        watch_loop(worker_numbers, lambda: now[0], sleep)  # type: ignore[arg-type]
    assert worker_numbers.observed == pytest.approx([0.0, 0.25, 0.0])
    assert now[0] == pytest.approx(100 + 3 * INTERVAL + 0.249)
