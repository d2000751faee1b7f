"""`modelway connect` with the gateway of the manual's page: what it checks, and what it prints."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import agents
from tests.support.agent_page import FILE, MODELS, serving
from tests.support.blocks import blocks_of
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


def test_the_block_of_the_page(running: Running, tmp_path: Path) -> None:
    """It prints, writes and takes back."""
    blocks = blocks_of(FILE.name, FILE.read_text("utf-8"))
    [text] = [b.text for b in blocks if b.text.startswith("export MODELWAY_TOKEN")]
    script = text.replace("https://models.example.com", running.url).replace("mw-...", ALL)
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    result = subprocess.run(
        ["bash", "-e"],
        input=script.replace(" --write", " --write --yes"),
        env={"HOME": str(tmp_path), "SHELL": "/bin/bash", "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "Claude Code is as it was before." in result.stdout
    assert ALL not in result.stdout + result.stderr
    assert not (tmp_path / ".bashrc").exists()
