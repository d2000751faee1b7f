"""The official SDKs talk to models whose vendors speak another language, through a real gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.genai import types

from engine.translations import languages
from tests.support.recording import ask, request
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.sdk_callers import CALLERS, Caller
from tests.support.translating import CHAT_ROUTES, MODELS, SPECS
from tests.support.vendors import Vendors, vendors

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}upstreams:
  openai:    {{url: "{url}/v1", dialect: openai, proxy: ""}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, proxy: ""}}
  gemini:    {{url: "{url}/v1beta", dialect: gemini, proxy: ""}}
  away:      {{url: "http://127.0.0.1:9/v1", dialect: openai, proxy: "", retry: {{attempts: 1}}}}
models:
  chat-model:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createChatCompletion]
    translate: strict
  responses-model:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createResponse]
    translate: strict
  claude-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  gemini-model: {{to: [{{upstream: gemini, model: gemini-2.5-flash}}], translate: strict}}
  lossy-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: lossy}}
  native-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: "off"}}
  drop-model:
    to: [{{upstream: anthropic, model: claude-sonnet-4-5}}]
    translate: strict
    drop: [logit_bias]
  spare-model: {{to: [{{upstream: away}}], translate: strict, fallback: [claude-model]}}
routes:
{chat_routes}{tokens}
"""

LANGUAGES = {each.name for each in languages()}

CROSSINGS = [
    pytest.param(caller, model, id=f"{caller.language}-{language}")
    for caller in CALLERS
    for language, model in MODELS.items()
    if caller.language != language and {caller.language, language} <= LANGUAGES
]


@pytest.fixture(scope="module")
def upstream() -> Iterator[Vendors]:
    with vendors() as servers:
        yield servers


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Vendors) -> Iterator[Running]:
    config = CONFIG.format(
        specs=SPECS, chat_routes=CHAT_ROUTES, url=upstream.upstream.url, tokens=TOKENS
    )
    with gateway(tmp_path_factory.mktemp("translation"), config) as started:
        yield started


@pytest.mark.parametrize(("caller", "model"), CROSSINGS)
def test_an_answer_in_one_piece(
    caller: Caller, model: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "text"
    reply = caller.ask(running.port, model)
    assert (reply.text, reply.stop) == ("Hello there.", caller.ends["end"])
    assert (reply.input, reply.cached, reply.output) == (12, 4, 5)


@pytest.mark.parametrize(("caller", "model"), CROSSINGS)
def test_a_stream(caller: Caller, model: str, running: Running, upstream: Vendors) -> None:
    upstream.case = "text"
    reply = caller.stream(running.port, model)
    assert (reply.text, reply.stop) == ("Hello there.", caller.ends["end"])
    assert (reply.input, reply.output) == (12, 5)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("caller", "model"), CROSSINGS)
def test_a_tool_is_called_and_its_result_answered(
    caller: Caller, model: str, stream: bool, running: Running, upstream: Vendors
) -> None:
    upstream.case = "tool"
    turn = caller.tool_turn(running.port, model, stream=stream)
    assert (turn.name, turn.arguments) == ("look", {"city": "Oslo", "n": 1.0})
    assert turn.stop == caller.ends["tool_calls"]
    assert turn.final == "Hello there."


def post(running: Running, body: dict[str, Any], path: str = "/v1/chat/completions") -> Any:
    return ask(running.port, request(path, json.dumps(body).encode(), token=ALL))


def chat(model: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "Hi"}], **more}


def test_what_cannot_be_carried_is_refused_by_name_before_anything_is_sent(
    running: Running, upstream: Vendors
) -> None:
    upstream.upstream.requests.clear()
    response = post(running, chat("claude-model", logit_bias={"1": 2}))
    error = response.json()["error"]
    assert (response.status, error["param"]) == (400, "logit_bias")
    assert "claude-model" in error["message"]
    assert not upstream.upstream.requests


@pytest.mark.parametrize("model", ["lossy-model", "drop-model"])
def test_what_may_be_dropped_is_named_in_a_header(
    model: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "text"
    response = post(running, chat(model, logit_bias={"1": 2}))
    assert response.status == 200
    assert response.value("x-modelway-dropped") == "logit_bias"
    assert "logit_bias" not in upstream.last


def test_a_model_with_translate_off_is_served_in_its_own_language_alone(running: Running) -> None:
    response = post(running, chat("native-model"))
    assert (response.status, response.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("version", ["v1", "v1beta"])
@pytest.mark.parametrize("model", ["chat-model", "responses-model", "claude-model"])
def test_a_stream_without_events_is_an_array_written_item_by_item(
    model: str, version: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "text"
    path = f"/{version}/models/{model}:streamGenerateContent"
    response = post(running, {"contents": [{"parts": [{"text": "Hi"}]}]}, path)
    items = [types.GenerateContentResponse.model_validate(item) for item in response.json()]
    assert response.value("content-type") == "application/json"
    assert "".join(item.text or "" for item in items) == "Hello there."
    assert len(items) == response.body.count(b",\n{") + 1 > 2
    assert sum(item.usage_metadata is not None for item in items) == 1


def test_failover_crosses_dialects(running: Running, upstream: Vendors) -> None:
    upstream.case = "text"
    response = post(running, chat("spare-model"))
    assert response.json()["choices"][0]["message"]["content"] == "Hello there."
    assert upstream.last["messages"][0]["role"] == "user"  # type: ignore[index]
    assert upstream.upstream.last.target == "/v1/messages"


def test_a_vendor_gets_back_only_the_signatures_that_it_has_made(
    running: Running, upstream: Vendors
) -> None:
    upstream.case = "text"
    sealed = {"type": "thinking", "thinking": "Hm", "signature": "modelway:responses:rs"}
    native = {"type": "thinking", "thinking": "Hm", "signature": "EqQB"}
    text = {"type": "text", "text": "Hi"}
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [native, sealed, text]},
        {"role": "user", "content": "Go on."},
    ]
    body = {"model": "claude-model", "max_tokens": 9, "messages": turns}
    assert post(running, body, "/v1/messages").status == 200
    assert upstream.last["messages"][1]["content"] == [native, text]  # type: ignore[index]
