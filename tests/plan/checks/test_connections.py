"""URLs, proxies and files of TLS that cannot be used are errors at their place."""

import subprocess
import sys

import pytest

from engine.plan.checks.connections import check_connections, check_webhooks
from engine.source.problem import Findings
from tests.support.configs import read_config
from tests.support.each import each
from tests.support.paths import ROOT

SECRET = "whsec_" + "a2V5" * 8


def problems(text, environ=None):
    """The path's last key, the message and the hint of each error."""
    findings = Findings()
    check_connections(read_config(text, environ), findings)
    assert all(problem.code == "MW104" for problem in findings.problems)
    return [(problem.message, problem.hint) for problem in findings.problems]


@pytest.mark.parametrize(
    "text",
    [
        "upstreams: {main: {url: 'https://api.example.com/v1'}}",
        "upstreams: {main: {url: 'http://127.0.0.1:8000', proxy: 'http://proxy:3128'}}",
        "stores: {records: 'sqlite:///modelway.db'}",
        "stores: {records: 'postgresql+psycopg://u@db1:5432,db2:5432/modelway'}",
        "stores: {counters: 'redis://127.0.0.1:6379/0'}",
    ],
)
def test_valid_addresses_have_no_problems(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("{url: 'https://a.example/v1?api-version=1'}", "query", "credential: {query:"),
        ("{url: 'https://user:pw@a.example'}", "user", "Basic"),
        ("{url: 'https://a.example', proxy: 'http://p:99999'}", "port", ""),
    ],
)
def test_an_upstream_that_cannot_be_connected_to(text, words, hint):
    ((message, actual_hint),) = problems(f"upstreams: {{main: {text}}}")
    assert words in message
    assert hint in actual_hint
    assert "pw" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("records: 'postgresql+psycopg://u:hidden@db:99999/x'", "the port is not a number"),
        ("counters: 'redis://:hidden@cache:99999/0'", "the port is not a number"),
        ("counters: 'redis+sentinel://:hidden@cache,other:99999/m'", "the port is not a number"),
        ("counters: 'redis+sentinel://:hidden@cache:26379'", "the name of the master is missing"),
        ("counters: 'rediss+cluster://:hidden@cache/1'", "a cluster has one database"),
        ("counters: 'redis://:hidden@cache-1,cache-2/0'", "this form has one host"),
        ("counters: 'unix://'", "the path of the socket is missing"),
    ],
)
def test_a_store_that_cannot_be_connected_to_is_named_without_its_url(text, words):
    ((message, _),) = problems(f"stores: {{{text}}}")
    assert words in message
    assert "hidden" not in message


@pytest.mark.parametrize(
    ("key", "words"), [("ca", "no certificate in PEM"), ("certificate", "not a certificate in PEM")]
)
def test_a_file_of_tls_that_is_no_certificate(tmp_path, key, words):
    file = tmp_path / "file.pem"
    file.write_text("no certificate")
    more = f", key: '{file}'" if key == "certificate" else ""
    tls = f"tls: {{{key}: '{file}'{more}}}"
    redis = f"counters: 'rediss://a.example', redis: {{{tls}}}"
    for section in (
        f"upstreams: {{main: {{url: 'https://a.example', {tls}}}}}",
        f"stores: {{{redis}}}",
    ):
        ((message, _),) = problems(section)
        assert f"'{key}' cannot be used" in message
        assert words in message


def test_a_collector_of_traces_needs_a_url():
    ((message, _),) = problems("telemetry: {traces: {endpoint: 'https://c.example/v1?x=1'}}")
    assert "collector" in message


_CHECK = """
import sys
from pathlib import Path
from engine.plan.checks.connections import check_connections
from engine.source.problem import Findings
from tests.support.configs import read_config

findings = Findings()
check_connections(read_config(sys.argv[1]), findings)
print([problem.message for problem in findings.problems], "sqlalchemy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("url", "messages"),
    [
        ("sqlite:///records.db", "[]"),
        (
            "postgresql+psycopg://u:hidden@db:99999/x",
            "['the port is not a number from 0 to 65535']",
        ),
    ],
)
def test_the_url_of_a_database_is_read_in_a_child_process(url, messages):
    """The process that plans is a gateway's master, and its workers need no SQLAlchemy."""
    command = [sys.executable, "-c", _CHECK, f"stores: {{records: '{url}'}}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == f"{messages} False\n"


def codes(url="https://a.test", secret=SECRET):
    findings = Findings()
    config = read_config(f"webhooks: {{a: {{url: '{url}', secret: {secret}}}}}\n")
    check_webhooks(config, findings)
    for problem in findings.errors:
        assert "s3cret" not in f"{problem.message}{problem.hint}"
    return [problem.code for problem in findings.errors]


@each(
    "url,expected",
    [
        ("https://a.test/x?sig=a%20b", []),
        ("http+unix:///run/hook.sock", []),
        ("https://user:s3cret@a.test", ["MW513"]),
        ("https://a.test/x#s3cret", ["MW513"]),
        ("https://a.test/x?a=s3cret#b", ["MW513"]),
        ("https://a.test:99999", ["MW513"]),
    ],
)
def test_a_url_must_be_one_that_can_be_called(url, expected):
    assert codes(url) == expected


@each("secret,expected", [("s3cret", ["MW514"]), (f"[{SECRET}, whsec_s3cret]", ["MW514"])])
def test_every_secret_must_have_its_form(secret, expected):
    assert codes(secret=secret) == expected
