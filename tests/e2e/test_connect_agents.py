"""Agents that `modelway connect` has set up do a task with a tool, and are as before afterwards."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import agents as settings
from tests.support.agent_model import AgentModel
from tests.support.agent_page import MODELS, serving
from tests.support.agents import AGENTS, CLINE, TIMEOUT, Agent, end, environment
from tests.support.recording import Recorder, recorder
from tests.support.running import Running, modelway

NAMES = {settings.read(name).title: name for name in settings.names()}
CONNECTED = [agent for agent in AGENTS if agent is not CLINE]
"""Cline has no file of settings: it stores the token itself."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("connect"), upstream.url) as started:
        yield started


def files(home: Path, names: list[str]) -> dict[str, bytes | None]:
    """The bytes of files of a home folder, None for one that is not there."""
    paths = {name: home / name for name in names}
    return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}


@pytest.mark.parametrize("agent", CONNECTED, ids=lambda agent: agent.program)
def test_a_connected_agent_does_a_task(
    agent: Agent, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    if missing := agent.missing():
        pytest.skip(missing)
    upstream.reset()
    command = agent.call(f"{agent.last}printf seven > a.txt")
    steps = [[(agent.tool, command)]] if agent.edit is None else []
    texts = {} if agent.edit is None else {0: agent.edit("a.txt", "seven")}
    upstream.speak = AgentModel({0: steps}, texts=texts)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (home / ".bashrc").write_bytes(b"export OTHER=1")
    name = NAMES[agent.section]
    names = [".bashrc", *(f.path.removeprefix("~/") for f in settings.read(name).files)]
    before = files(home, names)

    def connect(*options: str) -> None:
        result = modelway("connect", name, *options, environ=environment(home))
        assert result.returncode == 0, result.stdout + result.stderr

    connect("--url", running.url, "--model", MODELS["messages"], "--write", "--yes")
    start = f"{settings.read(name).start} {shlex.join([*agent.options, 'Write seven.'])}"
    start = start.replace("@MODEL@", MODELS["messages"])
    with agent.start(["bash", "-ec", f". ~/.bashrc; {start}"], tmp_path) as process:
        try:
            output, errors = process.communicate(timeout=TIMEOUT)
        finally:
            end(process)
    assert process.returncode == 0, output + errors
    assert (project / "a.txt").read_text().rstrip() == "seven"
    connect("--undo")
    assert files(home, names) == before
