"""A session of seven turns of each coding agent, with models of its own vendor and of others.

Each turn is a run that resumes the session. 1: a text; 2: two calls at once; 3: an image that a
tool reads; 4: the agent is interrupted while the answer arrives; 5: two calls one after the other,
at the end of which the window is full; 6: the agent compacts the conversation; 7: a call with what
is left.

These take an hour: `tox -e agents` runs them, and the gate does not.
"""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.translations import languages
from tests.support import agents
from tests.support.agent_model import AgentModel, position, tool_results
from tests.support.agent_page import MODELS, serving
from tests.support.agents import Agent, AgentResult, Call
from tests.support.recording import Recorder, recorder
from tests.support.responses_upstream import ResponsesUpstream
from tests.support.running import ALL, Running
from tests.support.sdk_features import PIXEL
from tests.support.sdk_types import check_request
from tests.support.thorough import SESSIONS
from tests.support.waiting import under_load, until

pytestmark = [
    pytest.mark.skipif(not SESSIONS, reason="`tox -e agents` runs it"),
    pytest.mark.timeout(1200),
]

NATIVE = "gpt-4o"
"""A model that is asked in chat completions."""

MORE = f"  {NATIVE}: {{to: [{{upstream: openai}}], operations: [openai.createChatCompletion]}}\n"

OBJECTS = "objects: {key: 0123456789abcdef0123456789abcdef}\n"
"""What seals the summaries that models of other vendors write."""

PADDING = "Some context. " * 300
"""A conversation without length is not worth compacting."""


@dataclass(frozen=True)
class Session:
    """An agent whose window is full with so many tokens; `window` are variables and `options` are
    options that say so. `command` is the prompt that compacts, of an agent that forgets the usage
    when it ends. `shows` is whether it shows images to models that its own list does not have,
    `compacts` whether a run compacts what another one has left. With `socket` the upstream has the
    Responses API over a WebSocket. A `native` one has its vendor's model alone. `name` is that of
    the agent if there are several sessions of it.
    """

    agent: Agent
    full: int
    window: Mapping[str, str] | None = None
    options: Sequence[str] = ()
    command: str = ""
    shows: bool = True
    compacts: bool = True
    socket: bool = False
    native: bool = False
    name: str = ""

    def set_up(self, url: str) -> Agent:
        mine = [option.replace("@BASE@", f"{url}/v1") for option in self.options]
        quiet = {**self.agent.quiet, **(self.window or {})}
        options = (*mine, *self.agent.options)
        resume = (*mine, *self.agent.resume)
        return replace(self.agent, quiet=quiet, options=options, resume=resume)


_CODEX_WINDOW = "--config=model_auto_compact_token_limit=50000"
_BUILT_IN = ("--config=model_provider=openai", "--config=openai_base_url=@BASE@")
"""Codex's own provider, which opens a WebSocket by itself, and lets the vendor compact; for models
of other vendors the gateway does."""

SESSIONS = (
    Session(agents.CLAUDE, 12, command="/compact"),
    Session(agents.CODEX, 60_000, options=(_CODEX_WINDOW,)),
    Session(
        agents.CODEX,
        60_000,
        {"CODEX_API_KEY": ALL},
        options=(_CODEX_WINDOW, *_BUILT_IN),
        name="codex-built-in",
    ),
    Session(
        agents.CODEX,
        60_000,
        {"CODEX_API_KEY": ALL},
        options=(_CODEX_WINDOW, *_BUILT_IN),
        native=True,
        socket=True,
        name="codex-built-in-socket",
    ),
    Session(
        agents.CODEX,
        60_000,
        options=(_CODEX_WINDOW,),
        native=True,
        socket=True,
        name="codex-socket",
    ),
    Session(agents.GEMINI, 12, compacts=False),
    Session(agents.OPENCODE, 199_000),
    Session(agents.QWEN, 12, shows=False, compacts=False),
    Session(
        agents.COPILOT,
        119_000,
        {"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "120000"},
        shows=False,
        compacts=False,
    ),
    Session(agents.KIMI, 255_000),
)


def models(session: Session) -> list[str]:
    """The model that is asked natively, and those of other languages."""
    if session.native:
        return [MODELS[session.agent.language]]
    others = [name for language, name in MODELS.items() if language != session.agent.language]
    return [MODELS.get(session.agent.language, NATIVE), *others]


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("sessions")
    with serving(folder, upstream.url, MORE, OBJECTS) as started:
        yield started


@dataclass
class Driver:
    """Gives an agent its turns, and looks at what reached the upstream."""

    agent: Agent
    model: str
    folder: Path
    running: Running
    upstream: Recorder

    def log(self) -> list[Any]:
        """The requests so far; a socket over which several came is none."""
        lines = self.running.output().splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [entry for entry in entries if entry["status"] != 101]

    def options(self, number: int) -> Sequence[str]:
        return self.agent.options if number == 1 else self.agent.resume

    def turn(self, number: int, command: str = "") -> AgentResult:
        """A turn, or a command, that ends without an error of the gateway's."""
        self.upstream.requests.clear()
        before = len(self.log())
        prompt = command or f"TURN-{number} Go on. {PADDING}"
        options = self.options(number)
        result = self.agent.run(prompt, self.running.url, self.model, self.folder, options)
        assert result.code == 0, (number, result.output[-800:], result.errors[-800:])
        assert command or f"Done {number}." in result.output, (result.output, result.errors)
        entries = {(each["status"], each["outcome"]) for each in self.log()[before:]}
        assert entries == {(200, "complete")}, number
        return result

    def interrupted(self, number: int, model: AgentModel) -> None:
        before = len(self.log())
        arguments = [*self.options(number), f"TURN-{number} Go on."]
        command = self.agent.command(self.running.url, self.model, self.folder, arguments)
        with self.agent.start(command, self.folder) as process:
            try:
                until(lambda: model.hangs == [number], "the answer has begun", agents.TIMEOUT)
                agents.end(process, signal.SIGINT)
                process.communicate(timeout=under_load(20))
            finally:
                agents.end(process)
        until(lambda: len(self.log()) > before, "the end of the request", 30)
        assert [each["outcome"] for each in self.log()[before:]] == ["caller_left"]

    def last(self) -> Any:
        """The last request of the conversation: agents ask for titles and notes beside it."""
        bodies = [json.loads(each.body) for each in self.upstream.requests if each.body]
        return max((body for body in bodies if body.get("tools")), key=position)

    def results(self) -> str:
        """The results in the order of their calls, by the ids that the model has given if its API
        has some: agents may send first what was ready first."""
        return json.dumps(sorted(tool_results(self.last()), key=_id_of_call))

    def judge(self) -> None:
        """The requests that were translated are such as the vendor's SDK could send."""
        for each in self.upstream.requests:
            path = each.target.partition("?")[0]
            language = next((each for each in languages() if each.speaks(path)), None)
            if language is not None and language.name != self.agent.language:
                check_request(language.name, each.body)


def _id_of_call(result: Mapping[str, Any]) -> str:
    names = ("tool_use_id", "tool_call_id", "call_id")
    return next((result[name] for name in names if name in result), "")


def plan(agent: Agent, image: Path) -> dict[int, list[list[Call]]]:
    def shell(command: str) -> Call:
        return agent.tool, agent.call(f"{command}; sleep 1")  # some lose what comes at the end

    assert agent.image is not None
    return {
        2: [[shell("echo o''ne"), shell("echo t''wo")]],
        3: [[agent.image(image)]],
        4: [[shell("echo f''our")]],
        5: [[shell("echo f''ive")], [shell("echo s''ix")]],
        7: [[shell("echo se''ven")]],
    }


@pytest.mark.parametrize("model", MODELS.values())
def test_a_deferred_tool_of_claude_code_is_called(
    model: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    if missing := agents.CLAUDE.missing():
        pytest.skip(missing)
    upstream.reset()
    search = ("ToolSearch", {"query": "select:CronList,TaskStop", "max_results": 5})
    upstream.speak = AgentModel({0: [[search], [("CronList", {})]]})
    result = agents.CLAUDE.run("List the jobs.", running.url, model, tmp_path)
    assert (result.code, result.output.strip()) == (0, "Done 0."), result.errors
    assert (
        model.startswith("claude-") or "context window of 1m" in result.errors
    )  # as the page says
    first, second, last = [json.loads(each.body) for each in upstream.requests if each.body]
    assert "CronList" not in json.dumps(first["tools"])
    assert "CronList" in json.dumps(second["tools"])
    [named, listed] = tool_results(last)
    assert "CronList" in json.dumps(named)
    assert "No scheduled jobs" in json.dumps(listed)


@pytest.mark.parametrize(
    ("session", "model"),
    [
        pytest.param(session, model, id=f"{session.name or session.agent.program}-{model}")
        for session in SESSIONS
        for model in models(session)
    ],
)
def test_a_session(
    session: Session, model: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    if not session.socket:
        play(session, model, running, upstream, tmp_path)
        return
    (tmp_path / "gateway").mkdir()
    with serving(tmp_path / "gateway", upstream.url, MORE) as started:
        play(session, model, started, upstream, tmp_path)


def play(
    session: Session, model: str, running: Running, upstream: Recorder, tmp_path: Path
) -> None:
    """The seven turns."""
    agent = session.set_up(running.url)
    if missing := agent.missing():
        pytest.skip(missing)
    image = tmp_path / "project" / "pixel.png"
    image.parent.mkdir()
    image.write_bytes(base64.b64decode(PIXEL))
    script = AgentModel(plan(agent, image), held=frozenset({4}), full={5: session.full})
    upstream.reset()
    speaks = ResponsesUpstream(script, upstream.requests.append)
    upstream.speak = speaks if session.socket else script
    driver = Driver(agent, model, tmp_path, running, upstream)

    driver.turn(1)
    driver.turn(2)
    assert driver.results().index("one") < driver.results().index("two")
    driver.turn(3)
    assert PIXEL in json.dumps(driver.last()) or not session.shows
    driver.judge()
    driver.interrupted(4, script)
    driver.turn(5)
    results = driver.results()
    assert all(word in results for word in ("one", "two", "five", "six"))
    driver.turn(6, session.command)
    driver.judge()
    driver.turn(7)
    driver.judge()
    assert "seven" in driver.results()
    assert "two" not in driver.results() or not session.compacts
    assert bool(speaks.sockets) is (session.socket and model == MODELS["responses"])
