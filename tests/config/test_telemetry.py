"""`telemetry:` as values, and its errors."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.config import telemetry as module
from engine.config.load import load
from engine.config.telemetry import AccessLogConfig, Log, MetricsExport, Traces
from engine.source.problem import Findings
from engine.values.client_address import networks

needs_otel = pytest.mark.skipif(
    find_spec("google") is None or find_spec("opentelemetry.proto") is None,
    reason="needs the extra otel",
)


def read(section, folder=Path("/etc/gw")):
    findings = Findings()
    text = f"version: 1\nspecs: {{}}\nroutes: []\ntelemetry: {section}\n"
    config, _ = load(text, "gateway.yaml", folder, os.environ, findings)
    problems = [p for p in findings.problems if "telemetry" in text.split("\n")[p.line - 1]]
    return config.telemetry, problems


def test_telemetry_has_defaults():
    telemetry, problems = read("{}")
    assert problems == []
    assert (telemetry.access_log, telemetry.log, telemetry.metrics) == (
        AccessLogConfig(),
        Log(),
        "/metrics",
    )
    assert telemetry.allow_ips == networks(["127.0.0.0/8", "::1"])


def test_telemetry_has_logs_metrics_and_networks():
    telemetry, problems = read(
        "{access_log: {format: text, fields: [time, status], sample: 0.1, path: var/access.log},"
        " log: {format: text, level: info}, metrics: /m, allow_ips: [10.0.0.0/8]}"
    )
    assert problems == []
    assert telemetry.access_log == AccessLogConfig(
        "text", ("time", "status"), 0.1, "/etc/gw/var/access.log"
    )
    assert (telemetry.log, telemetry.metrics) == (Log("text", "info"), "/m")
    assert telemetry.allow_ips == networks(["10.0.0.0/8"])


@pytest.mark.parametrize(
    ("section", "address", "public"),
    [
        ("{}", "127.0.0.1:9464", ("/healthz",)),
        ("{listen: '[::1]:9465'}", "[::1]:9465", ("/healthz",)),
        ("{listen: 'unix:/run/t.sock'}", "unix:/run/t.sock", ("/healthz",)),
        ("{listen: off}", "", ("/healthz",)),
        ("{listen: public}", "", ("/healthz", "/readyz", "/metrics")),
        ("{listen: public, metrics: false}", "", ("/healthz", "/readyz")),
    ],
)
def test_where_metrics_and_health_are_served(section, address, public):
    telemetry, problems = read(section)
    assert problems == []
    assert (telemetry.address, telemetry.public_pages) == (address, public)


@pytest.mark.parametrize(("metrics", "path"), [("false", ""), ("true", "/metrics")])
def test_metrics_may_be_switched(metrics, path):
    assert read(f"{{metrics: {metrics}}}")[0].metrics == path


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{metrics: /healthz}", "is a page of the gateway"),
        ("{metrics: /operations.json}", "is a page of the gateway"),
        ("{allow_ips: [10.0.0.1/8]}", "write 10.0.0.0/8"),
        ("{access_log: {sample: 2}}", "1"),
        ("{access_log: {fields: [secret]}}", "one of time"),
        ("{acces_log: {}}", "acces_log"),
        ("{listen: 9464}", "must be an address with a port, not a whole number"),
        ("{listen: '9464'}", "is not an address with a port"),
        ("{listen: '127.0.0.1:0'}", "is not an address with a port"),
        ("{listen: '::1:9464'}", "is not an address with a port"),
        ("{listen: 'http://127.0.0.1:9464'}", "is not an address with a port"),
        ("{listen: '127.0.0.1:8080'}", "is the address of server.listen"),
        ("{listen: '0.0.0.0:8080'}", "is the address of server.listen"),
    ],
)
def test_an_invalid_value_is_an_error_in_its_line(section, words):
    problems = read(section)[1]
    assert len(problems) == 1
    assert words in problems[0].message
    assert problems[0].line == 4


def read_traces(section):
    telemetry, problems = read(f"{{traces: {section}}}")
    return telemetry.traces, [(p.code, p.line, p.message) for p in problems]


@needs_otel
@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://x.example/otlp", "https://x.example/otlp/v1/traces"),
        ("https://x.example/otlp/v1/traces", "https://x.example/otlp/v1/traces"),
    ],
)
def test_the_path_of_otlp_is_put_behind_an_endpoint(endpoint, url):
    traces, errors = read_traces(f"{{endpoint: '{endpoint}'}}")
    assert (traces, errors) == (Traces(url), [])


@needs_otel
def test_traces_have_a_share_and_headers_in_lower_case():
    traces, errors = read_traces(
        "{endpoint: 'http://x', sample: 0.01, headers: {Authorization: secret}}"
    )
    assert errors == []
    assert (traces.sample, traces.headers) == (0.01, {"authorization": "secret"})
    assert "secret" not in repr(traces)


@needs_otel
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{endpoint: localhost}",
        "{endpoint: 'grpc://x'}",
        "{endpoint: 'http://x', sample: 2}",
        "{endpoint: 'http://x', sampel: 1}",
        "{endpoint: 'http://x', headers: {'a b': c}}",
        "{endpoint: 'http://x', headers: {Host: c}}",
        "{endpoint: 'http://x', headers: {CONTENT-Length: '1'}}",
        '{endpoint: "http://x", headers: {a: "b\\nc"}}',
    ],
)
def test_invalid_traces_are_an_error_in_their_line(text):
    _, errors = read_traces(text)
    assert [line for _, line, _ in errors] == [4]


def test_traces_need_the_extra_otel(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    _, errors = read_traces("{endpoint: 'http://x'}")
    assert errors == [("MW108", 4, "traces need the extra otel, which is not installed")]


def test_names_that_nothing_has_are_refused():
    _, problems = read("{metrics: false, semconv: genai-2026-10}")
    message = "nothing has these names: `metrics` is false, and there are no `traces`"
    assert [(problem.code, problem.message) for problem in problems] == [("MW105", message)]


@needs_otel
def test_metrics_are_exported_to_their_own_path():
    section = "{otlp_metrics: {endpoint: 'http://x/', headers: {X-A: b}}}"
    telemetry, problems = read(section)
    assert problems == []
    assert telemetry.otlp_metrics == MetricsExport("http://x/v1/metrics", 60.0, {"x-a": "b"})


@needs_otel
@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "{metrics: false, otlp_metrics: {endpoint: 'http://x'}}",
            "there are no metrics to export: `metrics` is false",
        ),
        (
            "{otlp_metrics: {endpoint: 'http://x', headers: {host: a}}}",
            "header 'host' is set by the exporter of metrics",
        ),
    ],
)
def test_an_export_that_cannot_be_is_refused(section, message):
    assert [problem.message for problem in read(section)[1]] == [message]
