"""A recorder of metrics."""

from __future__ import annotations

import pytest

from engine.telemetry.metrics.recorder import MetricsRecorder


@pytest.fixture
def metrics(tmp_path):
    recorder = MetricsRecorder(tmp_path, "USD")
    yield recorder
    recorder.close()
