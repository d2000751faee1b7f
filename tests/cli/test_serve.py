"""`modelway serve`: what happens before and after gunicorn's master runs."""

import os
import shutil
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from engine.process.runtime_dir import base, runtime_directory
from engine.spec.document.cache import MIN_SIZE
from engine.spec.schemas.schema_validator import SchemaValidator
from tests.support.commands import GOOD, assert_refused, modelway
from tests.support.each import each
from tests.support.masters import start_in_process

CONFIG = Path("gateway.yaml")
WITH_SCHEMA = """openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items:
    post:
      operationId: add
      requestBody: {content: {application/json: {schema: {maxProperties: 93571}}}}
      responses: {}
"""
"""No other test has this number: equal schemas share a validator."""
STORES = "stores: {records: 'sqlite:///records.db', journal: %s}\n"


@pytest.fixture
def masters(folder, monkeypatch):
    yield start_in_process(monkeypatch)
    shutil.rmtree(runtime_directory(CONFIG), ignore_errors=True)


@pytest.fixture
def port():
    """A port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def write(port, more=""):
    server = f"server: {{listen: '127.0.0.1:{port}'}}\ntelemetry: {{listen: off}}\n"
    CONFIG.write_text(GOOD + server + more)


def test_operations_and_address_are_announced(masters, port):
    write(port)
    result = modelway("serve")
    assert (result.exit_code, len(masters)) == (0, 1)
    assert result.stderr == (
        f"modelway: 2 operations on 127.0.0.1:{port}\n"
        f"  API      http://127.0.0.1:{port}\n"
        f"  console  http://127.0.0.1:{port}/\n"
    )


@each(
    ("more", "expected"),
    [
        (
            "server: {listen: '0.0.0.0:18001'}",
            ["http://127.0.0.1:18001", "http://127.0.0.1:18001/"],
        ),
        ("server: {listen: '[::]:18001'}", ["http://[::1]:18001", "http://[::1]:18001/"]),
        (
            "server: {listen: '127.0.0.1:18001', base_url: 'https://llm.example.com'}",
            ["https://llm.example.com", "http://127.0.0.1:18001/"],
        ),
        (
            "server: {listen: '127.0.0.1:18001'}\nconsole: {enabled: false}",
            ["http://127.0.0.1:18001"],
        ),
        (
            "server: {listen: 'unix:/tmp/gateway.sock'}",
            ["curl --unix-socket /tmp/gateway.sock http://localhost/"],
        ),
        (
            "server: {listen: '127.0.0.1:18001'}\nconsole: {enabled: false}\n"
            "telemetry: {listen: '0.0.0.0:18002'}",
            [
                *("http://127.0.0.1:18001", "http://127.0.0.1:18002/metrics"),
                "http://127.0.0.1:18002/readyz",
            ],
        ),
        (
            "server: {listen: '127.0.0.1:18001'}\nconsole: {enabled: false}\n"
            "telemetry: {listen: public, metrics: false}",
            ["http://127.0.0.1:18001", "http://127.0.0.1:18001/readyz"],
        ),
    ],
)
def test_addresses_that_can_be_opened_are_announced(masters, monkeypatch, more, expected):
    monkeypatch.setattr("engine.cli.serve.exit_if_unavailable", lambda *_: None)
    off = "" if "telemetry" in more else "\ntelemetry: {listen: off}"
    CONFIG.write_text(f"{GOOD}{more}{off}\n")
    result = modelway("serve")
    assert result.exit_code == 0, result.output
    assert [line.split(maxsplit=1)[1] for line in result.stderr.splitlines()[1:]] == expected


def test_the_first_start_with_a_database_has_no_warning(masters, port):
    write(port, STORES.replace("records.db", "data/records.db") % "var/journal")
    assert "unavailable" not in modelway("serve").stderr
    assert Path("data/records.db").is_file()


def test_the_database_is_made_by_the_trial(masters, port):
    write(port, STORES % "journal")
    assert modelway("serve").exit_code == 0
    assert Path("records.db").is_file()


def test_a_config_with_errors_is_not_served(masters):
    CONFIG.write_text(Path("bad.yaml").read_text())
    result = modelway("serve")
    assert (result.exit_code, masters) == (1, [])
    assert "unknown upstream 'mian'" in result.stderr


def test_a_config_that_fails_on_trial_is_not_served(masters, port):
    write(port, STORES % "shop.yaml/journal")
    assert_refused(modelway("serve"), "the ledger's journal cannot be kept in ")
    assert masters == []


def test_an_address_in_use_leaves_the_database_alone(masters):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        write(listener.getsockname()[1], STORES % "journal")
        result = modelway("serve")
    assert (result.exit_code, masters) == (1, [])
    assert not Path("records.db").exists()


def test_the_folder_of_the_metrics_is_removed_at_the_end(masters, port):
    write(port)
    assert modelway("serve").exit_code == 0
    assert list(base().glob(f"modelway-metrics-*-{os.getpid()}-*")) == []


@cache
def loaded_by(program):
    """The modules that a program has imported."""
    return set(subprocess.check_output([sys.executable, "-c", program], text=True).split())


SERVER = "import sys, engine.cli.serve, engine.server.gateway; print(*sys.modules)"


def test_the_server_is_loaded_while_the_config_is_tried():
    loaded = loaded_by("import sys, engine.cli.serve; print(*sys.modules)")
    assert {"engine.server.gateway", "gunicorn.arbiter"} & loaded == set()
    assert "engine.app.build" in loaded  # for both


def test_what_only_a_trial_needs_is_loaded_by_the_trial():
    rooms = ("engine.offline", "engine.mock", "sqlalchemy", "alembic")
    assert {name for name in loaded_by(SERVER) if name.startswith(rooms)} == set()


def test_what_few_configs_need_is_loaded_for_those():
    rooms = (
        *("engine.mcp", "engine.app.mcp.servers", "cryptography", "jwt"),
        *("engine.spec.load", "engine.spec.document.swagger"),
    )
    assert {name for name in loaded_by(SERVER) if name.startswith(rooms)} == set()


def test_no_schema_is_compiled_that_an_earlier_process_has_proven(masters, port, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.abspath("cache"))
    write(port)
    Path("shop.yaml").write_text(WITH_SCHEMA + "# large\n" * (MIN_SIZE // 8))
    subprocess.run([sys.executable, "-m", "engine", "check"], check=True, capture_output=True)
    compiled = []
    compile_schema = SchemaValidator.compile
    monkeypatch.setattr(
        SchemaValidator, "compile", lambda self: compiled.append(1) or compile_schema(self)
    )
    assert modelway("serve").exit_code == 0
    assert compiled == []


def test_a_config_that_fails_on_trial_is_not_served_though_the_server_is_loaded(
    masters, port, monkeypatch
):
    loaded = []
    monkeypatch.setattr("engine.cli.serve.preload", loaded.append)
    write(port, STORES % "shop.yaml/journal")
    assert modelway("serve").exit_code == 1
    assert (len(loaded), masters) == (1, [])
