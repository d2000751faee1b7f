"""A session of Claude Code against three replicas of a real vLLM, through `affinity: agent`: all of
it goes to one replica, whose prompt cache has as much of each turn as without a gateway. And the
count of a model's tokenizer is that of the server.

Each turn is a run of the agent that goes on with the session: the model calls a tool, and then
answers with a text, so that a turn has two requests.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.agents import CLAUDE
from tests.support.model_servers import AGENT_SERVER, serving
from tests.support.paths import ROOT
from tests.support.pip_environment import Unavailable
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.tiny_model import TEXT
from tests.support.translating import SPECS

REPLICAS, TURNS = 3, 12
SHARE = 0.95
"""Of the cached tokens without a gateway."""

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 2}}
{specs}upstreams:
{upstreams}models:
  tiny:
    to: [{{upstream: replica-0}}, {{upstream: replica-1}}, {{upstream: replica-2}}]
    choose: {{affinity: agent}}
{more}routes:
  - {{operations: [anthropic.createMessage, anthropic.countTokens], model: $request.body#/model}}
{tokens}
"""
_UPSTREAM = '  replica-{number}: {{url: "{url}/v1", dialect: {dialect}, proxy: ""}}\n'
_METRIC = re.compile(r"^vllm:prefix_cache_(queries|hits)_total\{[^}]*\} (\S+)", re.MULTILINE)

pytestmark = [pytest.mark.timeout(3600), pytest.mark.keeps("the servers run for all tests")]


@dataclass(frozen=True)
class Tokens:
    """What a replica counts: tokens of prompts, and those of them that its cache had."""

    input: int
    cached: int


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Running]]:
    """The servers, which start side by side: each takes minutes."""
    try:
        AGENT_SERVER.installed()
    except Unavailable as error:
        pytest.skip(str(error))
    with ExitStack() as stack, ThreadPoolExecutor(REPLICAS) as threads:
        contexts = [
            serving(AGENT_SERVER, tmp_path_factory.mktemp(f"replica-{number}"))
            for number in range(REPLICAS)
        ]
        yield list(threads.map(stack.enter_context, contexts))


@pytest.fixture(autouse=True)
def _empty_caches(replicas: Sequence[Running]) -> None:
    if missing := CLAUDE.missing():
        pytest.skip(missing)
    for replica in replicas:
        request = urllib.request.Request(f"{replica.url}/reset_prefix_cache", method="POST")
        urllib.request.urlopen(request, timeout=60).close()


def counts(replica: Running) -> Tokens:
    with urllib.request.urlopen(f"{replica.url}/metrics", timeout=60) as answer:
        values = {name: float(value) for name, value in _METRIC.findall(answer.read().decode())}
    return Tokens(int(values["queries"]), int(values["hits"]))


def session(url: str, replicas: Sequence[Running], folder: Path) -> list[Tokens]:
    """What each replica has counted during a session with the server at a URL."""
    before = [counts(replica) for replica in replicas]
    for turn in range(TURNS):
        options = CLAUDE.resume if turn else None
        result = CLAUDE.run(f"Turn {turn}: where is it?", url, "tiny", folder, options)
        assert (result.code, result.output) == (0, f"{TEXT}\n"), result.errors
    return [
        Tokens(now.input - was.input, now.cached - was.cached)
        for was, now in zip(before, map(counts, replicas), strict=True)
    ]


@pytest.fixture(scope="module")
def direct(replicas: Sequence[Running], tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    """A session without a gateway, with one replica."""
    folder = tmp_path_factory.mktemp("direct")
    return session(replicas[0].url, replicas[:1], folder)[0]


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_session_stays_on_one_replica_with_its_cache(
    dialect: str, replicas: Sequence[Running], direct: Tokens, tmp_path: Path
) -> None:
    upstreams = "".join(
        _UPSTREAM.format(number=number, url=replica.url, dialect=dialect)
        for number, replica in enumerate(replicas)
    )
    config = CONFIG.format(specs=SPECS, upstreams=upstreams, tokens=TOKENS, more="")
    (tmp_path / "session").mkdir()
    with gateway(tmp_path, config) as front:
        counted = session(front.url, replicas, tmp_path / "session")
    [used] = [each for each in counted if each.input]
    print(f"{dialect}: without a gateway {direct}, through it {used}")
    assert direct.cached > 0.9 * direct.input
    assert used.cached >= SHARE * direct.cached
    assert used.cached / used.input >= SHARE * direct.cached / direct.input


def post(url: str, body: object) -> dict[str, int]:
    headers = {"authorization": f"Bearer {ALL}", "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        document: dict[str, int] = json.loads(answer.read())
        return document


TEXT_OF_A_TURN = (ROOT / "docs" / "how-to" / "replicas.md").read_text("utf-8")
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string", "description": "Where."}}}
FUNCTION = {"name": "look", "description": "Looks out of a window.", "parameters": PARAMETERS}
CHAT = {
    "model": "tiny",
    "messages": [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": TEXT_OF_A_TURN},
        {"role": "assistant", "content": "Replicas are servers of one model."},
        {"role": "user", "content": "And what is affinity?"},
    ],
    "tools": [{"type": "function", "function": FUNCTION}],
}
COUNTED = {
    "model": "tiny",
    "system": "Answer in one sentence.",
    "messages": CHAT["messages"][1:],
    "tools": [{"name": "look", "description": FUNCTION["description"], "input_schema": PARAMETERS}],
}


def test_a_tokenizer_counts_what_the_server_does(
    replicas: Sequence[Running], tmp_path: Path
) -> None:
    upstreams = "".join(
        _UPSTREAM.format(number=number, url=replica.url, dialect="openai")
        for number, replica in enumerate(replicas)
    )
    file = replicas[0].log.parent / "tiny" / "tokenizer.json"
    more = f"    tokenizer: {file}\n"
    config = CONFIG.format(specs=SPECS, upstreams=upstreams, tokens=TOKENS, more=more)
    with gateway(tmp_path, config) as front:
        counted = post(f"{front.url}/v1/messages/count_tokens", COUNTED)["input_tokens"]
    expected = post(f"{replicas[0].url}/tokenize", CHAT)["count"]
    assert counted == pytest.approx(expected, rel=0.03)
