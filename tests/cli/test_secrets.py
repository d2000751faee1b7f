"""No command prints a secret of the config, written there or filled in from a variable."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from engine import cli
from tests.support.commands import DOCUMENT, modelway

CONFIG = """version: 1
specs: {shop: {document: shop.yaml, mount: /v1}}
upstreams:
  main:
    url: https://me:s3cret-1@shop.internal
    credential: {header: x-api-key, value: NAME_2}
    transform:
      request: {query: {set: {key: s3cret-3}}, header: {set: {authorization: "Bearer s3cret-4"}}}
  other: {url: "http://127.0.0.1:9", credential: {bearer: s3cret-5}}
routes: [{operations: shop.*, to: [{upstream: main}, {upstream: other}]}]
stores:
  records: "postgresql+psycopg://me:NAME_6@127.0.0.1:9/records"
  counters: redis://:s3cret-7@127.0.0.1:9/0
telemetry: {traces: {endpoint: "http://127.0.0.1:9", headers: {x-key: s3cret-8}}}
tokens: [{name: alice, sha256: 2e6fd721177cef19d7c0d6badb24151492a20d995533c443f8c423193d8fee14}]
tests: [{name: a, request: {method: GET, path: /v1/items, token: alice}, expect: {status: 400}}]
"""
COMMANDS = [
    "check --no-second-opinion",
    "check --format json",
    "check --format sarif",
    "check --verbose --strict",
    "config --defaults",
    "config --json",
    "diff gateway.yaml changed.yaml",
    "diff --format json changed.yaml gateway.yaml",
    "diff --format markdown gateway.yaml broken.yaml",
    "explain GET /v1/items --token alice --answers 400",
    "explain GET /v1/items --token alice --format json",
    "ledger ship .",
    "routes",
    "routes --format json",
    "test",
    "test --format json",
    "token create --name bert",
    "token export",
    "token import tokens.json",
    "token list",
    "token revoke bert",
    "token rotate bert",
    "token show bert",
    "token update bert --note x",
    "usage",
]
SERVERS = {"mock", "reload", "serve", "top"}
"""They run, or ask what runs: tests/e2e/test_telemetry.py reads what a gateway writes."""


@pytest.fixture
def project(folder, monkeypatch):
    for number in (2, 6):
        monkeypatch.setenv(f"NAME_{number}", f"s3cret-{number}")
    text = CONFIG.replace("NAME_2", '"${NAME_2}"').replace("NAME_6", "${NAME_6}")
    (folder / "shop.yaml").write_text(DOCUMENT)
    (folder / "gateway.yaml").write_text(text)
    (folder / "changed.yaml").write_text(text.replace("s3cret-", "s3cret-1"))
    (folder / "broken.yaml").write_text(text.replace("value: ", "valeu: "))
    (folder / "no.yaml").write_text(text + "a: [")
    (folder / "tokens.json").write_text("[]")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("file", ["gateway.yaml", "broken.yaml", "no.yaml"])
def test_a_command_prints_no_secret_of_the_config(project, monkeypatch, command, file):
    monkeypatch.setenv("MODELWAY_CONFIG", file)
    result = modelway(*command.split())
    assert result.exit_code != 2, result.output
    assert "s3cret" not in result.output
    assert result.output


def with_config(command: click.Command, name: str = "") -> Iterator[str]:
    """The names of the commands that read a config."""
    if isinstance(command, click.Group):
        for word, child in command.commands.items():
            yield from with_config(child, f"{name} {word}".strip())
    elif {"config", "configs", "files", "old"} & {option.name for option in command.params}:
        yield name


def test_every_command_that_reads_a_config_is_tried():
    tried = {command for command in COMMANDS for name in COMMANDS if command == name}
    missing = [
        name
        for name in with_config(cli.main)
        if name not in SERVERS and not any(command.startswith(name) for command in tried)
    ]
    assert missing == []
