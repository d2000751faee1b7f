"""The Responses API over a WebSocket through the shipped gateway, with the vendor's clients.

Codex in long sessions is in `test_agent_sessions.py`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from tests.support import agents
from tests.support.agent_model import AgentModel
from tests.support.frames import KEY, TEXT, Peer
from tests.support.recording import (
    HttpAnswer,
    ReceivedRequest,
    Recorder,
    Wire,
    ask,
    recorder,
    request,
)
from tests.support.responses_upstream import ResponsesUpstream
from tests.support.running import (
    ALL,
    EXPIRED,
    LIMITED,
    TOKENS,
    Platform,
    Running,
    gateway,
)
from tests.support.signed_tokens import ENTRY, claims, key_set
from tests.support.signed_tokens import token as signed_token
from tests.support.translating import SPECS
from tests.support.waiting import under_load, until

MODELS = ("gpt-4o", "claude-sonnet", "gemini-2.5-flash")
UPGRADE = (
    *("Upgrade: websocket", "Connection: Upgrade"),
    *("Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"),
)
CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1, grace: 6s}}
{specs}upstreams:
  openai: {{url: "{url}/v1", dialect: openai, proxy: "", responses_websocket: true}}
models: {{"gpt-*": {{to: [{{upstream: openai}}]}}}}
routes:
  - {{operation: openai.createResponse, model: $request.body#/model}}
  - {{operation: openai.connectResponses, answer: responses, websocket: {{max_message: 4MB}}}}
{tokens}
"""
Json = dict[str, Any]
HELD: Json = {"model": "gpt-4o", "input": "TURN-1", "tools": [{"type": "web_search"}]}
"""A request whose answer does not end."""

Front = tuple[Running, Recorder]


class Client:
    """A client frame by frame."""

    def __init__(self, port: int, token: str = ALL) -> None:
        self.wire = Wire(port)
        self.wire.send(request("/v1/responses", headers=UPGRADE, token=token))
        status, self.headers = self.wire.head()
        assert status == 101
        self.peer = Peer(self.wire.sock, client=True)

    def create(self, **members: Any) -> None:
        self.peer.text(json.dumps({"type": "response.create", **members}))

    def answer(self) -> list[Json]:
        """The messages up to the end of a turn."""
        messages: list[Json] = []
        last = {"response.completed", "response.failed", "response.incomplete", "error"}
        while not messages or messages[-1]["type"] not in last:
            frame = self.peer.next()
            if frame.opcode == TEXT:
                messages.append(json.loads(frame.data))
        return messages

    def ask(self, **members: Any) -> list[Json]:
        self.create(**members)
        return self.answer()


@contextmanager
def client(port: int, token: str = ALL) -> Iterator[Client]:
    made = Client(port, token)
    try:
        yield made
    finally:
        made.wire.close()


def log(running: Running) -> list[Json]:
    lines = running.output().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def text_of(message: Json) -> str:
    [item] = message["response"]["output"]
    return str(item["content"][0]["text"])


def upgrade(port: int, token: str = "", path: str = "/v1/responses") -> HttpAnswer:
    return ask(port, request(path, headers=UPGRADE, token=token))


@pytest.mark.parametrize("model", MODELS)
def test_the_python_sdk_has_a_conversation(model: str, platform: Platform) -> None:
    sdk = OpenAI(base_url=f"{platform.gateway.url}/v1", api_key=ALL)
    previous: Json = {}
    with sdk.responses.connect() as connection:
        for text in ("one two", "three"):
            connection.response.create(model=model, input=text, store=False, **previous)
            for event in connection:
                assert event.type != "error", event
                if event.type == "response.completed":
                    break
            assert event.response.output_text == text
            previous = {"previous_response_id": event.response.id}


NODE = """
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: process.env.MODELWAY_TOKEN });
const socket = new ResponsesWS(client);
const texts = ['one two', 'three'];
const ask = (previous) => socket.send({
  type: 'response.create', model: process.argv[3], input: texts.shift(), store: false,
  ...(previous ? { previous_response_id: previous } : {}),
});
socket.on('error', (error) => { console.error(error); process.exit(1); });
socket.on('response.completed', (event) => {
  console.log(event.response.output[0].content[0].text);
  if (texts.length) ask(event.response.id); else socket.close();
});
ask();
"""


@pytest.mark.parametrize("model", MODELS)
def test_the_node_sdk_has_a_conversation(model: str, platform: Platform, tmp_path: Path) -> None:
    if missing := agents.missing_node():
        pytest.skip(missing)
    if not (agents.FOLDER / "node_modules" / "openai").exists():
        pytest.skip(f"no openai in {agents.FOLDER}; `.ci/run` installs it from npm")
    (tmp_path / "node_modules").symlink_to(agents.FOLDER / "node_modules")
    (tmp_path / "program.mjs").write_text(NODE)
    result = subprocess.run(
        ["node", "program.mjs", f"{platform.gateway.url}/v1", model],
        cwd=tmp_path,
        env=agents.environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=under_load(agents.TIMEOUT),
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "one two\nthree\n"), result.stderr


AGENT = """
import asyncio, sys
from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool

@function_tool
def weather(city: str) -> str:
    return f"{city}: 21 degrees"

async def main():
    provider = OpenAIProvider(
        base_url=sys.argv[1], api_key=sys.argv[2], use_responses=True, use_responses_websocket=True
    )
    agent = Agent(name="a", instructions="Be brief.", tools=[weather], model="gpt-5.5")
    config = RunConfig(model_provider=provider, tracing_disabled=True)
    more = {"auto_previous_response_id": True} if sys.argv[3] == "new" else {}
    result = await Runner.run(agent, "TURN-1 How warm is it?", run_config=config, **more)
    print(result.final_output)
    await provider.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("items", ["all", "new"])
@pytest.mark.parametrize("has_websocket", [False, True], ids=["http", "websocket"])
def test_openai_agents_call_a_tool(
    items: str, has_websocket: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python = agents.PYTHON / "python"
    packages = agents.PYTHON.parent / "lib"
    if not list(packages.glob("python3*/site-packages/agents")):
        pytest.skip(f"no openai-agents in {agents.PYTHON}; `tox -e agents` installs it")
    model = AgentModel({1: [[("weather", {"city": "Oslo"})]]})
    speaks = ResponsesUpstream(model)
    front, upstream = request.getfixturevalue("speaking" if has_websocket else "plain")
    upstream.speak = speaks if has_websocket else model
    (tmp_path / "program.py").write_text(AGENT)
    result = subprocess.run(
        [python, "program.py", f"{front.url}/v1", ALL, items],
        cwd=tmp_path,
        env=agents.environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=under_load(agents.TIMEOUT),
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "Done 1.\n"), result.stderr
    if has_websocket:
        first, second = speaks.heard
        assert (speaks.sockets, "previous_response_id" in first) == (1, False)
        assert "Oslo: 21 degrees" in json.dumps(second["input"])
        # With all items it writes those of the answer in another way, so all are sent.
        assert ("previous_response_id" in second, len(second["input"])) == {
            "new": (True, 1),
            "all": (False, 3 + 1),
        }[items]
    else:
        bodies = [json.loads(each.body) for each in upstream.requests if each.body]
        assert "Oslo: 21 degrees" in json.dumps(bodies[-1]["input"])


@contextmanager
def serving(folder: Path, speak: Any, more: str = "") -> Iterator[tuple[Running, Recorder]]:
    """A gateway of one worker, in front of an upstream that answers as `speak`. `more` are sections
    of its config."""
    (folder / "gateway").mkdir()
    with recorder() as upstream:
        upstream.speak = speak
        text = CONFIG.format(specs=SPECS, url=upstream.url, tokens=TOKENS + more)
        with gateway(folder / "gateway", text) as front:
            yield front, upstream


@pytest.fixture(scope="module")
def plain_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with serving(tmp_path_factory.mktemp("plain"), AgentModel({})) as front:
        yield front


@pytest.fixture
def plain(plain_gateway: Front) -> Front:
    """A gateway of one worker, in front of an upstream without WebSockets."""
    _, upstream = plain_gateway
    upstream.speak = AgentModel({})
    upstream.requests.clear()
    return plain_gateway


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """The same in front of one that has them."""
    with serving(tmp_path_factory.mktemp("speaking"), AgentModel({})) as front:
        yield front


def test_a_request_without_a_valid_token_is_refused_before_the_upgrade(platform: Platform) -> None:
    for token in ("", EXPIRED, "mw-unknown"):
        assert upgrade(platform.gateway.port, token).status == 401


def test_what_asks_for_no_websocket_or_has_none_is_told_so_with_426(platform: Platform) -> None:
    port = platform.gateway.port
    assert ask(port, request("/v1/responses", token=ALL)).status == 426
    assert upgrade(port, ALL, "/v1/chat/completions").status == 426


def test_the_bearer_of_another_issuers_token_is_the_caller_of_each_request(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": key_set()}))
    entry = ENTRY % f", jwks_file: '{keys}', models: [gpt-4o]"
    with (
        serving(tmp_path, AgentModel({}), f"callers: {{jwt: [{entry}]}}\n") as (front, _),
        client(front.port, signed_token(claims(exp=int(time.time()) + 8))) as talk,
    ):
        assert talk.ask(model="gpt-4o", input="hi")[-1]["type"] == "response.completed"
        [refused] = talk.ask(model="gpt-5.5", input="hi")
        assert (refused["status"], refused["error"]["code"]) == (403, "model_not_allowed")
        [ended] = talk.answer()  # its token has expired
        assert (ended["status"], talk.peer.closed()[0]) == (401, 1008)
        until(lambda: len(log(front)) == 3, "the row of the socket")
        assert {row["token"] for row in log(front)} == {"login.example.com:ada"}


def test_each_request_is_one_of_its_caller_and_a_warm_up_is_none(plain: Front) -> None:
    front, upstream = plain
    before = len(log(front))
    with client(front.port, LIMITED) as talk:
        assert dict(talk.headers)["x-codex-websocket-max-message-bytes"] == "4000000"
        warm = talk.ask(model="gpt-4o", input=[], generate=False)[-1]["response"]["id"]
        last = talk.ask(model="gpt-4o", input="hi", previous_response_id=warm, store=False)[-1]
        assert last["type"] == "response.completed"
        [refused] = talk.ask(model="gpt-5.5", input="hi")
        assert (refused["status"], refused["error"]["code"]) == (403, "model_not_allowed")
        talk.peer.close()
        until(lambda: len(log(front)) == before + 3, "the row of the socket")
        entries = log(front)[before:]
        rows = [(row["operation"], row["token"], row["status"]) for row in entries]
        assert rows == [
            ("openai.createResponse", "limited", 200),
            ("openai.createResponse", "limited", 403),
            ("openai.connectResponses", "limited", 101),
        ]
        asked = [each for each in upstream.requests if each.body]
        assert [json.loads(each.body)["input"] for each in asked] == ["hi"]
        assert entries[0]["usage"]["output"] == 5


def test_lanes_are_answered_side_by_side(platform: Platform) -> None:
    with client(platform.gateway.port) as talk:
        for lane in ("a", "b"):
            talk.create(model="gpt-4o", input=f"from {lane}", stream_id=lane)
        ends = [talk.answer()[-1] for _ in range(2)]
        assert {end["stream_id"]: text_of(end) for end in ends} == {"a": "from a", "b": "from b"}


@pytest.mark.parametrize(
    ("model", "status"), [("fault-status-503", 503), ("fault-error-after-3", 500)]
)
def test_an_error_of_the_upstream_is_nested_with_its_status(
    model: str, status: int, platform: Platform
) -> None:
    with client(platform.gateway.port) as talk:
        error = talk.ask(model=model, input="hi")[-1]
        assert (error["type"], error["status"]) == ("error", status)
        assert error["error"]["message"]
        assert text_of(talk.ask(model="gpt-4o", input="and on")[-1]) == "and on"


def test_an_answer_that_breaks_off_ends_with_an_error(platform: Platform) -> None:
    with client(platform.gateway.port) as talk:
        error = talk.ask(model="fault-close-after-3", input="one two three")[-1]
        assert (error["type"], error["status"]) == ("error", 502)


@pytest.mark.parametrize("size", [1, 200_000], ids=["small", "large"])
def test_a_client_that_closes_cancels_the_request_at_the_upstream(size: int, plain: Front) -> None:
    front, upstream = plain
    before = len(log(front))
    upstream.speak = model = AgentModel({}, held=frozenset({1}))
    with client(front.port) as talk:
        talk.create(**HELD, instructions="x" * size)
        until(lambda: model.hangs == [1], "the answer has begun")
        talk.peer.close()
        until(lambda: len(log(front)) == before + 2, "the rows of the request and its socket")
        outcomes = {row["operation"]: row["outcome"] for row in log(front)[before:]}
        assert outcomes["openai.createResponse"] == "caller_left"


def test_a_worker_that_stops_finishes_the_turn_and_closes_with_1001(tmp_path: Path) -> None:
    model = AgentModel({}, held=frozenset({1}))
    with serving(tmp_path, model) as (front, _):
        with (
            client(front.port) as idle,
            client(front.port) as busy,
            client(front.port) as large,
        ):
            idle.ask(model="gpt-4o", input="hi")
            busy.create(**HELD)
            large.create(**HELD, instructions="x" * 200_000)
            until(lambda: model.hangs == [1, 1], "the answers have begun")
            front.process.send_signal(signal.SIGTERM)
            assert idle.peer.closed()[0] == 1001
            # The turns go on until the end of the grace period, and are not cut in silence.
            for each in (busy, large):
                *_, error = each.answer()
                assert (error["type"], error["error"]["code"]) == ("error", "shutting_down")
                assert each.peer.closed()[0] in (1001, 1012)
        assert front.process.wait(under_load(20)) == 0


def test_a_reload_answers_first_and_another_worker_has_the_next_sockets(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        if b"HOLD" in received.body:
            begun.set()
            go.wait(under_load(20))
        AgentModel({})(received, sock)

    with (
        serving(tmp_path, speak) as (front, _),
        client(front.port) as idle,
        client(front.port) as busy,
    ):
        idle.ask(model="gpt-4o", input="hi")
        busy.create(model="gpt-4o", input="HOLD")
        assert begun.wait(under_load(20))
        [worker] = front.workers()
        front.process.send_signal(signal.SIGHUP)
        assert idle.peer.closed()[0] == 1001
        with client(front.port) as fresh:
            assert fresh.ask(model="gpt-4o", input="hi")[-1]["type"] == "response.completed"
        go.set()
        assert busy.answer()[-1]["type"] == "response.completed"
        assert busy.peer.closed()[0] == 1001
        busy.wire.close()
        until(lambda: worker not in front.workers(), "the end of the old worker")


def test_a_worker_that_dies_cuts_its_sockets_and_the_next_one_serves(tmp_path: Path) -> None:
    with serving(tmp_path, AgentModel({})) as (front, _):
        with client(front.port) as talk:
            talk.ask(model="gpt-4o", input="hi")
            [worker] = front.workers()
            os.kill(worker, signal.SIGKILL)
            with pytest.raises((EOFError, ConnectionError)):
                talk.answer()
        until(lambda: front.workers() not in ([], [worker]), "another worker")
        with client(front.port) as talk:
            assert talk.ask(model="gpt-4o", input="hi")[-1]["type"] == "response.completed"


def test_a_large_turn_and_those_that_continue_it_are_served_by_a_heavy_worker(
    plain: Front,
) -> None:
    front, upstream = plain
    before = len(log(front))
    with client(front.port, LIMITED) as talk:
        items = [{"role": "user", "content": "Some words. " * 20}] * 4000
        at_rest = heavy_ticks(front)
        first = talk.ask(model="gpt-4o", input=items, store=False)[-1]
        assert first["type"] == "response.completed"
        more = {"model": "gpt-4o", "store": False, "previous_response_id": first["response"]["id"]}
        assert talk.ask(input="and?", **more)[-1]["type"] == "response.completed"
        assert heavy_ticks(front) > at_rest
        bodies = [json.loads(each.body) for each in upstream.requests if each.body]
        assert [len(bodies), len(bodies[0]["input"])] == [2, 4000]
        assert bodies[1]["input"][:4000] == items
        assert len(bodies[1]["input"]) > 4001  # the answer, and what is new
        assert bodies[1]["input"][-1]["content"] == "and?"
        [refused] = talk.ask(model="gpt-5.5", input=items)
        assert (refused["status"], refused["error"]["code"]) == (403, "model_not_allowed")
        [wrong] = talk.ask(model="gpt-4o", input=[*items, 17])
        assert (wrong["status"], wrong["error"]["type"]) == (400, "invalid_request_error")
        until(lambda: len(log(front)) == before + 4, "the rows of the requests")
        rows = [(row["operation"], row["token"], row["status"]) for row in log(front)[before:]]
        assert rows == [("openai.createResponse", "limited", n) for n in (200, 200, 403, 400)]


def heavy_ticks(front: Running) -> int:
    """CPU time of the heavy workers, which do nothing at rest."""
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in front.workers(heavy=True)]
    return sum(int(field) for stat in stats for field in stat.rpartition(")")[2].split()[11:13])


def test_a_message_that_is_too_large_closes_with_1009(plain: Front) -> None:
    with client(plain[0].port) as talk:
        talk.create(model="gpt-4o", input="x" * 4_000_000)
        assert talk.peer.closed()[0] == 1009
