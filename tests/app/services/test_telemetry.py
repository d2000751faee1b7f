"""What a config asks for is what a worker tells."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from engine.app.services.telemetry import telemetry_of
from engine.exchange.exchange import Content
from engine.plan.assembly.make_plan import make_plan
from engine.telemetry.log import LOGGERS
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from tests.support.recording_metrics import finished_exchange
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
    at_once = [each for each in telemetry.observers if isinstance(each, WorkerMetrics)]
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
        ("", (["WorkerMetrics"], ["AccessLogWriter", "WorkerMetrics"])),
        ("telemetry: {metrics: false}", ([], ["AccessLogWriter"])),
        ("telemetry: {access_log: {format: 'off'}}", (["WorkerMetrics"], ["WorkerMetrics"])),
        ("telemetry: {access_log: {format: 'off'}, metrics: false}", ([], [])),
    ],
)
def test_the_config_switches_logs_and_metrics_on(tmp_path, more, observers):
    telemetry = telemetry_of(config(tmp_path, more), tmp_path)
    assert names_of(telemetry) == observers
    assert (telemetry.page is not None) == any(
        isinstance(o, WorkerMetrics) for o in telemetry.observers
    )
    for close in reversed(telemetry.closing):
        close()


def test_without_a_folder_there_are_no_metrics(tmp_path):
    telemetry = telemetry_of(config(tmp_path), None)
    assert names_of(telemetry) == ([], ["AccessLogWriter"])
    for close in reversed(telemetry.closing):
        close()


def page_after(telemetry, exchange):
    """The lines of the page of metrics when an exchange has ended, and then the worker."""
    for observe in telemetry.observers:
        observe(exchange)
    assert telemetry.page is not None
    lines = telemetry.page().decode().splitlines()
    for close in reversed(telemetry.closing):
        close()
    return lines


@pytest.mark.parametrize(
    ("semconv", "names"),
    [
        ("v1.41", {"operation_duration_seconds", "token_usage"}),
        (
            "genai-2026-10",
            {
                *("inference_duration_seconds", "inference_usage_cache_read_input_tokens_total"),
                *("inference_operation_input_tokens", "inference_operation_output_tokens"),
                *("inference_usage_input_tokens_total", "inference_usage_output_tokens_total"),
            },
        ),
    ],
)
def test_metrics_have_the_names_that_the_config_selects(tmp_path, semconv, names):
    telemetry = telemetry_of(config(tmp_path, f"telemetry: {{semconv: {semconv}}}"), tmp_path)
    lines = page_after(telemetry, finished_exchange())
    start = "# HELP gen_ai_client_"
    assert {line.split()[2] for line in lines if line.startswith(start)} == {
        f"gen_ai_client_{name}" for name in names
    }


@pytest.mark.parametrize("name", ["project", "area"])
def test_the_tags_that_the_config_names_have_metrics(tmp_path, name):
    tags = "tags: {project: $request.body#/project, area: $request.body#/area}"
    telemetry = telemetry_of(config(tmp_path, f"{tags}\ntelemetry: {{tags: [{name}]}}"), tmp_path)
    exchange = finished_exchange()
    exchange.content = Content("application/json", {"project": "apollo", "area": "apollo"})
    lines = page_after(telemetry, exchange)
    series = [line for line in lines if 'value="apollo"' in line]
    assert {line.split("{")[0] for line in series} == {
        *("modelway_tag_requests_total", "modelway_tag_tokens_total", "modelway_tag_cost_total")
    }
    assert all(f'tag="{name}"' in line for line in series)


def test_loggers_that_are_not_ours_stay_as_they_are(tmp_path):
    before = logging.getLogger("gunicorn.error").handlers[:]
    telemetry = telemetry_of(config(tmp_path), None, ["modelway"])
    assert logging.getLogger("gunicorn.error").handlers == before
    for close in reversed(telemetry.closing):
        close()
