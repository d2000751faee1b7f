"""The vendors' coding agents do a task with two tool calls, with models of other vendors.

Each agent runs as its user would run it, in an empty home folder, against a real gateway. The
upstream answers in its vendor's stream format with calls of the agent's own tool, and then a text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_model import AgentModel, tool_results
from tests.support.agents import CLAUDE, CODEX, GEMINI, Agent, AgentResult
from tests.support.recording import Recorder, recorder
from tests.support.running import TOKENS, Running, gateway
from tests.support.sdk_features import PIXEL
from tests.support.thorough import SESSIONS, some
from tests.support.translating import SPECS

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}upstreams:
  openai:    {{url: "{url}/v1", dialect: openai, proxy: ""}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, proxy: ""}}
  gemini:    {{url: "{url}/v1beta", dialect: gemini, proxy: ""}}
models:
  "*-by-chat_completions":
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createChatCompletion]
    translate: strict
  "*-by-messages": {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  "*-by-generate_content":
    to: [{{upstream: gemini, model: gemini-2.5-flash}}]
    translate: strict
  gpt-5.5: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  gemini-2.5-pro:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createChatCompletion]
    translate: strict
routes:
  - operations:
      - openai.createChatCompletion
      - openai.createResponse
      - anthropic.createMessage
      - anthropic.countTokens
    model: $request.body#/model
  - operations: [gemini.generateContent, gemini.streamGenerateContent, gemini.countTokens]
    model: $request.path.model
{tokens}
"""

TASKS = [
    (CLAUDE, "any-by-generate_content", "generate_content"),
    (CODEX, "gpt-5.5", "messages"),
    (GEMINI, "gemini-2.5-pro", "chat_completions"),
]
"""Agents, models and the languages of their upstreams. An agent sends more with a model whose name
it knows (`gpt-5.5`) than with any other."""

OTHER_TASKS = [
    (CLAUDE, "any-by-chat_completions", "chat_completions"),
    (CODEX, "any-by-messages", "messages"),
    (GEMINI, "any-by-messages", "messages"),
]
"""Those of `tox -e agents` alone."""

SIGNATURES = {"messages": b'"EqQBCkYIBxg', "generate_content": b'"CiQBjz1rX7A'}
"""The signatures that vendors require to be sent back after the first answer."""


@pytest.fixture(scope="module")
def listening() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture
def upstream(listening: Recorder) -> Recorder:
    listening.reset()
    return listening


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, listening: Recorder) -> Iterator[Running]:
    config = CONFIG.format(specs=SPECS, url=listening.url, tokens=TOKENS)
    with gateway(tmp_path_factory.mktemp("agents"), config) as started:
        yield started


def require(agent: Agent) -> None:
    """Skip the test where an agent cannot run."""
    if missing := agent.missing():
        pytest.skip(missing)


NO_WEBSOCKET = 426
"""The answer to Codex, which tries a WebSocket first: these gateways have no route for one."""


def records(running: Running) -> list[Any]:
    """The lines of the gateway's access log."""
    return [json.loads(line) for line in running.output().splitlines() if line.startswith("{")]


def run(agent: Agent, running: Running, model: str, folder: Path) -> AgentResult:
    """Let an agent write `seven` to a file, without an error of its own or of the gateway's."""
    before = len(records(running))
    result = agent.run("Write seven to note.txt.", running.url, model, folder)
    assert result.code == 0, result.errors
    assert "Done 0." in result.output
    assert (result.project / "note.txt").read_text().rstrip() == "seven"
    log = [each for each in records(running)[before:] if each["status"] != NO_WEBSOCKET]
    assert {(each["status"], each["outcome"]) for each in log} == {(200, "complete")}
    return result


@pytest.mark.parametrize(
    ("agent", "model", "target"),
    some([*TASKS, *OTHER_TASKS], len(TASKS), SESSIONS),
    ids=lambda value: getattr(value, "program", value),
)
def test_an_agent_does_a_task_with_a_model_of_another_vendor(
    agent: Agent, model: str, target: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    require(agent)
    commands = ("printf seven > note.txt", "cat note.txt")
    upstream.speak = AgentModel({0: [[(agent.tool, agent.call(command))] for command in commands]})
    run(agent, running, model, tmp_path)
    [_, read] = tool_results(json.loads(upstream.last.body))
    assert "seven" in json.dumps(read)
    assert SIGNATURES.get(target, b"") in upstream.last.body


@pytest.mark.parametrize(
    ("agent", "model", "tool", "argument"),
    some(
        [
            pytest.param(CLAUDE, "any-by-chat_completions", "Read", "file_path", id="claude"),
            pytest.param(CODEX, "gpt-5.5", "view_image", "path", id="codex"),
            pytest.param(GEMINI, "gemini-2.5-pro", "read_file", "file_path", id="gemini"),
        ],
        2,
        SESSIONS,
    ),
)
def test_an_image_that_a_tool_reads_reaches_the_model(
    agent: Agent,
    model: str,
    tool: str,
    argument: str,
    running: Running,
    upstream: Recorder,
    tmp_path: Path,
) -> None:
    require(agent)
    image = tmp_path / "project" / "pixel.png"
    image.parent.mkdir()
    image.write_bytes(base64.b64decode(PIXEL))
    upstream.speak = AgentModel({0: [[(tool, {argument: str(image)})]]})
    result = agent.run("Look at pixel.png.", running.url, model, tmp_path)
    assert result.code == 0, result.errors
    assert "Done 0." in result.output
    assert PIXEL.encode() in upstream.last.body


def test_a_tool_of_plain_text_is_called(
    running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    require(CODEX)
    patch = "*** Begin Patch\n*** Add File: note.txt\n+seven\n*** End Patch\n"
    upstream.speak = AgentModel({0: [[("apply_patch", {"input": patch})]]})
    run(CODEX, running, "gpt-5.5", tmp_path)
    [result] = tool_results(json.loads(upstream.last.body))
    assert "note.txt" in json.dumps(result)


def test_a_tool_of_a_tool_search_is_called(
    running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    require(CODEX)
    closing = "multi_agent_v1__close_agent"
    search = ("tool_search", {"query": "close agent"})
    upstream.speak = AgentModel({0: [[search], [(closing, {"target": "nobody"})]]})
    result = CODEX.run("Close the agent.", running.url, "gpt-5.5", tmp_path)
    assert (result.code, result.output.strip()) == (0, "Done 0.")
    first, second, last = [json.loads(each.body) for each in upstream.requests]
    assert closing not in json.dumps(first["tools"])
    assert closing in json.dumps(second["tools"])
    [listed, closed] = tool_results(last)
    assert closing in json.dumps(listed)
    assert "invalid agent id" in json.dumps(closed)
