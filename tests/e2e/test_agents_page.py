"""Every block of docs/how-to/agents.md is used as it stands: with the config of the page, the agent
or SDK calls two tools at once, with the model of the block and those of the two other vendors
(`tox -e agents`; the gate has one model for each).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import agents
from tests.support.agent_model import AgentModel, tool_results
from tests.support.agent_page import MODELS, sections, serving
from tests.support.agents import AGENTS, FOLDER, Agent
from tests.support.recording import Recorder, recorder
from tests.support.running import Running
from tests.support.thorough import SESSIONS, diagonal
from tests.support.waiting import under_load

SDKS = {
    "Anthropic's tool runner in Python": "",
    "Anthropic's tool runner in TypeScript": "@anthropic-ai/sdk",
    "The AI SDK": "@ai-sdk/openai",
}
"""Sections with a program, and the package of npm that it needs."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("page"), upstream.url) as started:
        yield started


def statuses(running: Running, beginning: int) -> set[tuple[int, str]]:
    """Statuses and outcomes of the requests in the access log from a line on."""
    lines = running.output().splitlines()[beginning:]
    log = [json.loads(line) for line in lines if line.startswith("{")]
    # A socket over which several requests came is none itself.
    return {(each["status"], each["outcome"]) for each in log if each["status"] != 101}


def _edits(agent: Agent) -> dict[int, str]:
    """The text by which an agent without tools writes both files."""
    if agent.edit is None:
        return {}
    return {0: agent.edit("a.txt", "seven") + agent.edit("b.txt", "eight")}


def test_every_section_is_used() -> None:
    assert {agent.section for agent in AGENTS} | set(SDKS) == set(sections())


@pytest.mark.parametrize(
    ("agent", "model"),
    diagonal(AGENTS, [*MODELS.values()], SESSIONS),
    ids=lambda value: getattr(value, "program", value),
)
def test_an_agent_works_as_its_block_says(
    agent: Agent, model: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    if missing := agent.missing():
        pytest.skip(missing)
    upstream.reset()
    beginning = len(running.output().splitlines())
    commands = ("printf seven > a.txt", "printf eight > b.txt")
    last = f"{agent.last}cat a.txt b.txt; sleep 1"  # some lose what comes at the end
    steps = [
        [(agent.tool, agent.call(each)) for each in commands],
        [(agent.tool, agent.call(last))],
    ]
    upstream.speak = AgentModel({0: steps if agent.edit is None else []}, texts=_edits(agent))
    result = agent.run("Write seven and eight.", running.url, model, tmp_path)
    assert result.code == 0, result.output + result.errors
    written = [(result.project / name).read_text() for name in ("a.txt", "b.txt")]
    assert [text.rstrip() for text in written] == ["seven", "eight"]
    assert statuses(running, beginning) == {(200, "complete")}
    if not agent.last and agent.edit is None:
        assert "Done 0." in result.output
        assert "seveneight" in json.dumps(tool_results(json.loads(upstream.last.body))[2])


@pytest.mark.parametrize(("title", "model"), diagonal([*SDKS], [*MODELS.values()], SESSIONS))
def test_a_program_works_as_it_stands(
    title: str, model: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    package = SDKS[title]
    if package and (missing := agents.missing_node()):
        pytest.skip(missing)
    if not (FOLDER / "node_modules" / package).exists() and package:
        pytest.skip(f"no {package} in {FOLDER}; `.ci/run` installs it from npm")
    upstream.reset()
    beginning = len(running.output().splitlines())
    cities = ("Paris", "Rome")
    upstream.speak = AgentModel({0: [[("weather", {"city": city}) for city in cities]]})
    command = [sys.executable, "program.py"]
    if package:
        (tmp_path / "node_modules").symlink_to(FOLDER / "node_modules")
        command = ["node", "program.mjs"]
    (tmp_path / command[1]).write_text(sections()[title].at(running.url, model).program())
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env=agents.environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=under_load(agents.TIMEOUT),
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "Done 0.\n"), result.stderr
    for city, answer in zip(cities, tool_results(json.loads(upstream.last.body)), strict=True):
        assert f"{city}: 21 degrees" in json.dumps(answer)
    assert statuses(running, beginning) <= {(200, "complete"), (400, "refused")}
