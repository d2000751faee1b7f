"""What a config asks for is what a worker tells."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from engine.app.telemetry import telemetry_of
from engine.plan.make_plan import make_plan
from engine.telemetry.log import LOGGERS
from engine.telemetry.metrics.recorder import MetricsRecorder
from tests.support.small import project


@pytest.fixture(autouse=True)
def _loggers():
    """What is told of loggers holds for the whole process."""
    handlers_before = [
        (logging.getLogger(name), logging.getLogger(name).handlers[:]) for name in LOGGERS
    ]
    levels = [logger.level for logger, _ in handlers_before]
    yield
    for (logger, handlers), level in zip(handlers_before, levels, strict=True):
        logger.handlers[:], logger.propagate = handlers, True
        logger.setLevel(level)


def config(folder: Path, more: str = ""):
    text = project(folder, "http://127.0.0.1:9", {"chat": "[]"}, more=more)
    planned = make_plan(folder / "gateway.yaml", os.environ, text.replace("{listen}", "x:1"))
    assert planned.plan is not None, planned.problems
    return planned.plan.config


def names_of(telemetry):
    """Who is told of the end of an exchange: at once, and behind its answer."""
    at_once = [each for each in telemetry.observers if isinstance(each, MetricsRecorder)]
    consumers = [
        consumer
        for each in telemetry.observers
        if each not in at_once
        for consumer in each.__self__.consumers
    ]
    return [type(each).__name__ for each in at_once], [type(c.__self__).__name__ for c in consumers]


@pytest.mark.parametrize(
    ("more", "observers"),
    [
        ("", (["MetricsRecorder"], ["AccessLogWriter", "MetricsRecorder"])),
        ("telemetry: {metrics: false}", ([], ["AccessLogWriter"])),
        ("telemetry: {access_log: {format: 'off'}}", (["MetricsRecorder"], ["MetricsRecorder"])),
        ("telemetry: {access_log: {format: 'off'}, metrics: false}", ([], [])),
    ],
)
def test_the_config_switches_logs_and_metrics_on(tmp_path, more, observers):
    telemetry = telemetry_of(config(tmp_path, more), tmp_path)
    assert names_of(telemetry) == observers
    assert (telemetry.page is not None) == any(
        isinstance(o, MetricsRecorder) for o in telemetry.observers
    )
    for close in reversed(telemetry.closing):
        close()


def test_without_a_folder_there_are_no_metrics(tmp_path):
    telemetry = telemetry_of(config(tmp_path), None)
    assert names_of(telemetry) == ([], ["AccessLogWriter"])
    for close in reversed(telemetry.closing):
        close()


def test_loggers_that_are_not_ours_stay_as_they_are(tmp_path):
    before = logging.getLogger("gunicorn.error").handlers[:]
    telemetry = telemetry_of(config(tmp_path), None, ["modelway"])
    assert logging.getLogger("gunicorn.error").handlers == before
    for close in reversed(telemetry.closing):
        close()
