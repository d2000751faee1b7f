"""`telemetry:` as values, and what is wrong with it in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.config.load import load
from engine.config.telemetry import AccessLog, Log
from engine.source.problem import Findings
from engine.values.client_address import networks


def read(said, folder=Path("/etc/gw")):
    findings = Findings()
    text = f"version: 1\nspecs: {{}}\nroutes: []\ntelemetry: {said}\n"
    config, _ = load(text, "gateway.yaml", folder, os.environ, findings)
    problems = [p for p in findings.problems if "telemetry" in text.split("\n")[p.line - 1]]
    return config.telemetry, problems


def test_the_usual():
    said, problems = read("{}")
    assert problems == []
    assert (said.access_log, said.log, said.metrics) == (AccessLog(), Log(), "/metrics")
    assert said.allow_ips == networks(["127.0.0.0/8", "::1"])


def test_what_is_said():
    said, problems = read(
        "{access_log: {format: text, fields: [time, status], sample: 0.1, path: var/access.log},"
        " log: {format: text, level: info}, metrics: /m, allow_ips: [10.0.0.0/8]}"
    )
    assert problems == []
    assert said.access_log == AccessLog("text", ("time", "status"), 0.1, "/etc/gw/var/access.log")
    assert (said.log, said.metrics) == (Log("text", "info"), "/m")
    assert said.allow_ips == networks(["10.0.0.0/8"])


@pytest.mark.parametrize(
    ("said", "address", "public"),
    [
        ("{}", "127.0.0.1:9090", ("/healthz",)),
        ("{listen: '[::1]:9091'}", "[::1]:9091", ("/healthz",)),
        ("{listen: 'unix:/run/t.sock'}", "unix:/run/t.sock", ("/healthz",)),
        ("{listen: off}", "", ("/healthz",)),
        ("{listen: public}", "", ("/healthz", "/readyz", "/metrics")),
        ("{listen: public, metrics: false}", "", ("/healthz", "/readyz")),
    ],
)
def test_where_metrics_and_health_are_served(said, address, public):
    found, problems = read(said)
    assert problems == []
    assert (found.address, found.public_pages) == (address, public)


@pytest.mark.parametrize(("said", "path"), [("false", ""), ("true", "/metrics")])
def test_metrics_may_be_switched(said, path):
    assert read(f"{{metrics: {said}}}")[0].metrics == path


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("{metrics: /healthz}", "is a page of the gateway"),
        ("{allow_ips: [10.0.0.1/8]}", "host bits"),
        ("{access_log: {sample: 2}}", "1"),
        ("{access_log: {fields: [secret]}}", "one of time"),
        ("{acces_log: {}}", "acces_log"),
        ("{listen: 9090}", "must be an address with a port, not a whole number"),
        ("{listen: '9090'}", "is not an address with a port"),
        ("{listen: '127.0.0.1:0'}", "is not an address with a port"),
        ("{listen: '::1:9090'}", "is not an address with a port"),
        ("{listen: 'http://127.0.0.1:9090'}", "is not an address with a port"),
        ("{listen: '127.0.0.1:8080'}", "is the address of server.listen"),
        ("{listen: '0.0.0.0:8080'}", "is the address of server.listen"),
    ],
)
def test_mistakes_are_told_in_their_place(said, words):
    problems = read(said)[1]
    assert len(problems) == 1
    assert words in problems[0].message
    assert problems[0].line == 4
