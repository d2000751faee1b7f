"""`modelway connect` with the gateway of the manual's page: what it checks, and what it prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import agents
from tests.support.agent_page import MODELS, serving
from tests.support.running import ALL, EXPIRED, Running, modelway


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("gateway"), "http://127.0.0.1:9") as gateway:
        yield gateway


@pytest.mark.parametrize("name", agents.names())
def test_each_agent_has_its_route(name: str, running: Running, tmp_path: Path) -> None:
    environ = {"MODELWAY_TOKEN": ALL, "HOME": str(tmp_path)}
    arguments = ("--url", f"{running.url}/v1", "--model", MODELS["messages"])
    result = modelway("connect", name, *arguments, environ=environ)
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith(f"ok  {running.url} answers and knows the token\n")
    assert "ok  it has a route for /v1" in result.stderr
    assert running.url in result.stdout
    assert ALL not in result.stdout + result.stderr


def test_a_token_that_is_not_known(running: Running, tmp_path: Path) -> None:
    environ = {"MODELWAY_TOKEN": EXPIRED, "HOME": str(tmp_path)}
    result = modelway("connect", "claude", "--url", running.url, environ=environ)
    assert result.returncode == 1
    assert "does not know this token (401)" in result.stderr
    assert EXPIRED not in result.stdout + result.stderr


def test_an_address_without_the_agents_route(running: Running, tmp_path: Path) -> None:
    environ = {"MODELWAY_TOKEN": ALL, "HOME": str(tmp_path)}
    result = modelway("connect", "claude", "--url", f"{running.url}/other", environ=environ)
    assert result.returncode == 1
    assert f"{running.url}/other/v1/models answers 404" in result.stderr
