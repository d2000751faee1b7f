"""Real servers of models behind a real gateway: the official SDKs get what the servers say, relayed
and in every crossing, and the log counts what they count."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar

import pytest
from anthropic import APIStatusError as AnthropicError
from google import genai
from google.genai import errors, types
from openai import APIStatusError, OpenAI

from tests.support.model_servers import KEY, SERVERS, ModelServer, serving
from tests.support.pip_environment import Unavailable
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.sdk_callers import CALLERS, Caller, Reply, Turn
from tests.support.tiny_model import ANSWER, CITY, SIZE, TEXT
from tests.support.translating import CHAT_ROUTES, OPERATION_OF, SPECS
from tests.support.waiting import until

Json = dict[str, Any]

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}upstreams:
  openai:    {{url: "{url}/v1", dialect: openai, credential: {{bearer: {key}}}, proxy: ""}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, credential: {{bearer: {key}}}, proxy: ""}}
models:
{models}  embeddings:
    to: [{{upstream: openai, model: {model}}}]
    operations: [openai.createEmbedding]
routes:
{chat_routes}  - operations: [openai.createEmbedding]
    model: $request.body#/model
  - operations: [gemini.embedContent, gemini.batchEmbedContents]
    model: $request.path.model
{tokens}
"""
_MODEL = """\
  {name}: {{to: [{{upstream: {upstream}, model: {model}}}], {operation}translate: strict}}
"""
MISSING = "missing-"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Rome", "Oslo"]}},
    "required": ["city"],
    "additionalProperties": False,
}


def _crossings(
    targets: Callable[[ModelServer], Sequence[str]] = lambda server: server.languages,
) -> Any:
    """Each server, by each caller, in each of its languages, or some of them."""
    values = [
        pytest.param(server, caller, target, id=f"{server.name}-{caller.language}-{target}")
        for server in SERVERS
        for target in targets(server)
        for caller in CALLERS
    ]
    return pytest.mark.parametrize(("served", "caller", "target"), values, indirect=["served"])


EVERY_CROSSING = _crossings()
WHOLE_AND_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
pytestmark = [pytest.mark.timeout(3600), pytest.mark.keeps("the servers run for all tests")]


@dataclass(frozen=True)
class Served:
    """A server behind a gateway."""

    server: ModelServer
    upstream: Running
    gateway: Running

    @property
    def port(self) -> int:
        """The gateway's."""
        return self.gateway.port

    def rows(self) -> list[Json]:
        """The log of requests."""
        lines = self.gateway.output().splitlines()
        return [json.loads(line) for line in lines if '"outcome"' in line]


def _config(server: ModelServer, url: str) -> str:
    models = "".join(
        _MODEL.format(
            name=prefix + language,
            upstream="anthropic" if language == "messages" else "openai",
            model=prefix + server.model,
            operation=OPERATION_OF.get(language, ""),
        )
        for language in server.languages
        for prefix in ("", MISSING)
    )
    parts = {"key": KEY, "models": models, "model": server.model, "chat_routes": CHAT_ROUTES}
    return CONFIG.format(specs=SPECS, url=url, tokens=TOKENS, **parts)


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[ModelServer], Served | Exception]]:
    """What gives a server behind a gateway, which run until the last test: a start takes a minute.
    One that cannot be installed or started is not tried again."""
    with ExitStack() as stack:

        @cache
        def start(server: ModelServer) -> Served | Exception:
            folder = tmp_path_factory.mktemp(server.name)
            try:
                running = stack.enter_context(serving(server, folder))
            except (Unavailable, AssertionError) as error:
                return error
            config = _config(server, running.url)
            front = gateway(tmp_path_factory.mktemp("gateway"), config)
            return Served(server, running, stack.enter_context(front))

        yield start


@pytest.fixture
def served(
    request: pytest.FixtureRequest, servers: Callable[[ModelServer], Served | Exception]
) -> Served:
    started = servers(request.param)
    if isinstance(started, Unavailable):
        pytest.skip(str(started))
    if isinstance(started, Exception):
        raise started
    return started


T = TypeVar("T")


Ask = Callable[[Caller, int, str], T]
"""A conversation of a caller with the model of a name at a port."""


def _through(served: Served, caller: Caller, target: str, ask: Ask[T]) -> T:
    """What a caller gets of the gateway. If that fails, and without a gateway the server fails the
    SDK of its own language, too, the test is skipped."""
    try:
        return ask(caller, served.port, target)
    except Exception:
        own = next(each for each in CALLERS if each.language == target)
        try:
            ask(own, served.upstream.port, served.server.model)
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything
            name = type(error).__name__
            pytest.skip(f"{served.server.name} fails {own.language} itself: {name} {error}")
        raise


def _asked(caller: Caller, port: int, model: str) -> Reply:
    return caller.ask(port, model)


def _streamed(caller: Caller, port: int, model: str) -> Reply:
    return caller.stream(port, model)


def _tool_turn(caller: Caller, port: int, model: str, *, stream: bool) -> Turn:
    return caller.tool_turn(port, model, stream=stream)


def _of_schema(caller: Caller, port: int, model: str) -> str:
    return caller.of_schema(port, model, SCHEMA)


def _assert_counted(served: Served, reply: Reply, before: int) -> None:
    """The last request was complete, and what the log counts is what the caller was told."""
    [row] = until(lambda: served.rows()[before:], "a row of the log")
    assert (row["status"], row["outcome"]) == (200, "complete")
    usage = row["usage"]
    assert (usage["input"], usage["output"]) == (reply.input, reply.output)
    assert usage["source"] == "upstream"
    assert min(reply.input, reply.output) > 0


@EVERY_CROSSING
@WHOLE_AND_STREAM
def test_a_text_arrives_and_is_counted(
    served: Served, caller: Caller, target: str, stream: bool
) -> None:
    before = len(served.rows())
    reply = _through(served, caller, target, _streamed if stream else _asked)
    assert (reply.text, reply.stop) == (TEXT, caller.ends["end"])
    _assert_counted(served, reply, before)


@_crossings(lambda server: server.languages if server.tools else ())
@WHOLE_AND_STREAM
def test_a_tool_is_called_and_its_result_answered(
    served: Served, caller: Caller, target: str, stream: bool
) -> None:
    turn = _through(served, caller, target, partial(_tool_turn, stream=stream))
    assert (turn.name, turn.arguments) == ("look", {"city": CITY})
    assert (turn.stop, turn.final) == (caller.ends["tool_calls"], TEXT)


@_crossings(lambda server: server.schemas)
def test_an_answer_fits_its_schema(served: Served, caller: Caller, target: str) -> None:
    text = _through(served, caller, target, _of_schema)
    assert json.loads(text) == ANSWER


@_crossings(lambda server: server.languages if server.refuses_models else ())
def test_a_refusal_arrives_as_an_error_of_the_callers_sdk(
    served: Served, caller: Caller, target: str
) -> None:
    with pytest.raises((APIStatusError, AnthropicError, errors.ClientError)) as caught:
        caller.ask(served.port, MISSING + target)
    assert "missing-tiny" in str(caught.value)
    status = getattr(caught.value, "status_code", None) or getattr(caught.value, "code", None)
    assert status in (400, 404)


@pytest.mark.parametrize("served", [each for each in SERVERS if each.embeds], indirect=True)
def test_embeddings_arrive_in_both_formats(served: Served) -> None:
    with OpenAI(base_url=f"{served.gateway.url}/v1", api_key=ALL, max_retries=0) as client:
        data = client.embeddings.create(model="embeddings", input=["one", "two"]).data
    assert [len(each.embedding) for each in data] == [SIZE, SIZE]
    options = types.HttpOptions(base_url=served.gateway.url, api_version="v1beta")
    client = genai.Client(api_key=ALL, http_options=options)
    vectors = client.models.embed_content(model="embeddings", contents=["one", "two"]).embeddings
    for vector, expected in zip(vectors or (), data, strict=True):
        assert vector.values == pytest.approx(expected.embedding)
