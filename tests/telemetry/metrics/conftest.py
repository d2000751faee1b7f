"""A recorder of metrics."""

from __future__ import annotations

import pytest

from engine.telemetry.metrics.worker_metrics import WorkerMetrics


@pytest.fixture
def metrics(tmp_path):
    recorder = WorkerMetrics(tmp_path, "USD")
    yield recorder
    recorder.close()
