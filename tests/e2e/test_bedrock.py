"""The official SDKs talk to models of Amazon Bedrock in Converse, through a real gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bedrock_upstream import BedrockUpstream, bedrock_upstream
from tests.support.books import Books
from tests.support.recording import Wire, ask, request
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.sdk_callers import CALLERS, Caller
from tests.support.translating import CHAT_ROUTES, SPECS

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
stores: {{records: "sqlite:///records.db"}}
{specs}upstreams:
  bedrock: {{provider: bedrock, url: "{url}", credential: {{bearer: key}}, proxy: ""}}
  once:
    {{provider: bedrock, url: "{url}", credential: {{bearer: key}}, proxy: "",
     retry: {{attempts: 1}}, breaker: {{failures: 1000}}}}
  own: {{provider: bedrock-claude, url: "{url}", credential: {{bearer: key}}, proxy: ""}}
  away: {{url: "http://127.0.0.1:9", dialect: bedrock, proxy: "", retry: {{attempts: 1}}}}
models:
  claude: {{to: [{{upstream: bedrock, model: "{model}"}}]}}
  alone: {{to: [{{upstream: once, model: "{model}"}}]}}
  pair: {{to: [{{upstream: once, model: "{model}"}}], fallback: [profile]}}
  own: {{to: [{{upstream: own, model: "{model}"}}]}}
  profile: {{to: [{{upstream: bedrock, model: "{profile}"}}]}}
  spare: {{to: [{{upstream: away}}], fallback: [claude]}}
routes:
{chat_routes}{tokens}
"""


@pytest.fixture(scope="module")
def vendor() -> Iterator[BedrockUpstream]:
    with bedrock_upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bedrock")


@pytest.fixture
def books(folder: Path) -> Books:
    return Books(folder)


@pytest.fixture(scope="module")
def running(folder: Path, vendor: BedrockUpstream) -> Iterator[Running]:
    words = {"url": vendor.upstream.url, "model": MODEL, "profile": PROFILE}
    config = CONFIG.format(specs=SPECS, chat_routes=CHAT_ROUTES, tokens=TOKENS, **words)
    with gateway(folder, config) as started:
        yield started


@pytest.fixture(autouse=True)
def fresh(vendor: BedrockUpstream) -> None:
    vendor.reset()


EVERY_CALLER = pytest.mark.parametrize("caller", CALLERS, ids=lambda each: each.language)


@EVERY_CALLER
def test_an_answer_in_one_piece(caller: Caller, running: Running, vendor: BedrockUpstream) -> None:
    reply = caller.ask(running.port, "claude")
    assert (reply.text, reply.stop) == ("Hello there.", caller.ends["end"])
    assert (reply.input, reply.cached, reply.output) == (12, 4, 5)
    assert vendor.operation == (MODEL, "converse")
    assert vendor.problems == []


@EVERY_CALLER
def test_a_stream(caller: Caller, running: Running, vendor: BedrockUpstream) -> None:
    reply = caller.stream(running.port, "claude")
    assert (reply.text, reply.stop) == ("Hello there.", caller.ends["end"])
    assert (reply.input, reply.output) == (12, 5)
    assert vendor.operation == (MODEL, "converse-stream")
    assert vendor.problems == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@EVERY_CALLER
def test_a_tool_is_called_and_its_result_answered(
    caller: Caller, stream: bool, running: Running, vendor: BedrockUpstream
) -> None:
    vendor.case = "tool"
    turn = caller.tool_turn(running.port, "claude", stream=stream)
    assert (turn.name, turn.arguments) == ("look", {"city": "Oslo", "n": 1.0})
    assert (turn.stop, turn.final) == (caller.ends["tool_calls"], "Hello there.")
    assert vendor.problems == []


QUESTION = {"messages": [{"role": "user", "content": "Hi"}]}


def chat(**more: Any) -> bytes:
    body = {**QUESTION, **more}
    return request("/v1/chat/completions", json.dumps(body).encode(), token=ALL)


def post(running: Running, **more: Any) -> Any:
    return ask(running.port, chat(**more))


def test_the_request_has_the_path_and_the_credential_of_the_vendor(
    running: Running, vendor: BedrockUpstream
) -> None:
    assert post(running, model="profile").status == 200
    received = vendor.upstream.last
    encoded = PROFILE.replace(":", "%3A").replace("/", "%2F")
    assert received.line == f"POST /model/{encoded}/converse HTTP/1.1"
    assert received.values("authorization") == ["Bearer key"]
    assert received.values("content-type") == ["application/json"]
    assert vendor.body == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("model", ["claude", "own"])
def test_the_vendors_usage_is_in_the_ledger(
    model: str, stream: bool, running: Running, books: Books
) -> None:
    """In Converse, and in Claude's own format out of the same binary frames."""
    body = {"model": model, "max_tokens": 99, "stream": stream, **QUESTION}
    data = request("/v1/messages", json.dumps(body).encode(), token=ALL)
    [row] = books.rows_of(lambda: ask(running.port, data))
    assert [row[name] for name in ("input", "cached", "output")] == [12, 4, 5]
    assert (row["source"], row["stream"]) == ("upstream", stream)


def test_bedrock_can_be_a_fallback(running: Running, vendor: BedrockUpstream) -> None:
    response = post(running, model="spare")
    assert response.json()["choices"][0]["message"]["content"] == "Hello there."


def test_an_error_of_the_vendor_is_one_of_the_caller(
    running: Running, vendor: BedrockUpstream
) -> None:
    vendor.exception = "ThrottlingException"
    response = post(running, model="claude")
    error = response.json()["error"]
    assert (response.status, error["message"]) == (429, "Wait a little.")
    assert (error["type"], error["code"]) == ("requests", "ThrottlingException")


def test_an_exception_ends_a_stream_with_an_error(
    running: Running, vendor: BedrockUpstream
) -> None:
    vendor.exception = "throttlingException"
    with Wire(running.port) as wire:
        wire.send(chat(model="claude", stream=True))
        assert wire.head()[0] == 200
        rest = wire.rest()
    *_, last = [line for line in rest.split(b"\n") if line.startswith(b"data: ")]
    assert json.loads(last.removeprefix(b"data: "))["error"]["message"] == "Wait a little."
    assert b"[DONE]" not in rest


def test_a_stream_that_is_cut_inside_of_a_frame_has_no_clean_end(
    running: Running, vendor: BedrockUpstream
) -> None:
    vendor.cut = 40
    with Wire(running.port) as wire:
        wire.send(chat(model="claude", stream=True))
        assert wire.head()[0] == 200
        rest = wire.rest()
    assert b"Hello" in rest
    assert b'"error"' in rest
    assert b"[DONE]" not in rest
    assert not rest.endswith(b"0\r\n\r\n")


EXCEPTIONS = [
    ("throttlingException", 429),
    ("validationException", 400),
    ("modelStreamErrorException", 502),  # 424 there
    ("serviceUnavailableException", 503),
]


@pytest.mark.parametrize("events", [0, 1])
@pytest.mark.parametrize(("exception", "status"), EXCEPTIONS)
def test_an_exception_before_content_has_its_status(
    exception: str, status: int, events: int, running: Running, vendor: BedrockUpstream
) -> None:
    vendor.exception, vendor.events = exception, events
    response = post(running, model="alone", stream=True)
    assert (response.status, response.json()["error"]["message"]) == (status, "Wait a little.")


STATUSES = [(400, 400), (403, 502), (404, 404), (408, 408), (424, 502), (500, 500), (503, 503)]


@pytest.mark.parametrize(("status", "expected"), STATUSES)
def test_an_error_has_its_status(
    status: int, expected: int, running: Running, vendor: BedrockUpstream
) -> None:
    vendor.exception, vendor.status = "SomeException", status
    assert post(running, model="alone").status == expected


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_vendors_request_id_is_relayed(stream: bool, running: Running) -> None:
    assert post(running, model="claude", stream=stream).value("x-amzn-requestid") == "aws-1"


def test_a_stream_that_is_throttled_before_content_goes_to_the_next_model(
    running: Running, vendor: BedrockUpstream
) -> None:
    vendor.exception, vendor.events = "throttlingException", 1
    response = post(running, model="pair", stream=True)
    assert response.status == 429  # of both
    models = [each.target.split("/")[2] for each in vendor.upstream.requests]
    assert len(set(models)) == 2
