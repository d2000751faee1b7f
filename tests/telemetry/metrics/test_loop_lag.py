"""The lag of the event loop is observed at intervals."""

from __future__ import annotations

import pytest

from engine.telemetry.metrics.loop_lag import INTERVAL, LAG, watch_loop
from engine.values.metric import Metric


class Cells:
    def __init__(self) -> None:
        self.observed: list[float] = []

    def observe(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        assert (metric, labels) == (LAG, ())
        self.observed.append(value)


class Over(Exception):
    pass


def test_what_is_late_is_observed() -> None:
    cells, now, lags = Cells(), [100.0], iter([0.0, 0.25, -0.001])

    def sleep(seconds: float) -> None:
        lag = next(lags, None)
        if lag is None:
            raise Over
        now[0] += seconds + lag

    with pytest.raises(Over):
        watch_loop(cells, lambda: now[0], sleep)  # type: ignore[arg-type]
    assert cells.observed == pytest.approx([0.0, 0.25, 0.0])
    assert now[0] == pytest.approx(100 + 3 * INTERVAL + 0.249)
