"""What the workers of a machine share, and what happens where it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.app.services.telemetry import WorkerTelemetry
from engine.app.services.worker_services import services_of
from engine.plan.plan import CannotConnect, Plan


def test_a_folder_of_counters_that_is_not_ours_is_refused(config, monkeypatch, tmp_path):
    def foreign(config: Path, overlays: object = ()) -> Path:
        folder = tmp_path / "open"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        return folder

    monkeypatch.setattr("engine.app.services.machine_stores.runtime_directory", foreign)
    with pytest.raises(CannotConnect, match="limits cannot be counted"):
        services_of(Plan(config("policies: [{concurrency: {requests: 1}}]\n"), ()))


def test_shared_state_is_closed_after_the_last_sample_of_metrics(config):
    samples = []
    telemetry = WorkerTelemetry(
        closing=[lambda: samples.append(services.machine.record("a").total(0))]
    )
    services = services_of(Plan(config(""), ()), telemetry)
    services.machine.record("a").add(0, 2)
    services.close()
    assert samples == [2]
