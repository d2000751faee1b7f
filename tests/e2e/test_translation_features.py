"""Images, parsing, parallel calls and errors of the official SDKs, with models of other vendors."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest

from engine.translations import language
from tests.support.agent_model import tool_results
from tests.support.running import TOKENS, Running, gateway
from tests.support.sdk_callers import CALLERS, Caller
from tests.support.sdk_features import (
    FEATURE_CALLERS,
    PIXEL,
    FeatureCaller,
    Place,
    Thoughtful,
)
from tests.support.translating import CHAT_ROUTES, SPECS
from tests.support.vendors import ERROR, Vendors, vendors

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}upstreams:
  openai:    &own
    url: "{url}/v1"
    dialect: openai
    proxy: ""
    retry: {{attempts: 1}}
    breaker: {{failures: 9999}}
  anthropic: {{<<: *own, dialect: anthropic}}
  gemini:    {{<<: *own, url: "{url}/v1beta", dialect: gemini}}
  away:      {{<<: *own, url: "http://127.0.0.1:9/v1"}}
models:
  chat_completions:
    to: [{{upstream: openai, model: gpt-5}}]
    operations: [openai.createChatCompletion]
    translate: strict
  responses:
    to: [{{upstream: openai, model: gpt-5}}]
    operations: [openai.createResponse]
    translate: strict
  messages: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  generate_content: {{to: [{{upstream: gemini, model: gemini-2.5-flash}}], translate: strict}}
  away-messages: {{to: [{{upstream: away}}], translate: strict, fallback: [messages]}}
  away-generate_content:
    to: [{{upstream: away}}]
    translate: strict
    fallback: [generate_content]
routes:
{chat_routes}{tokens}
"""

LANGUAGES = [each.language for each in FEATURE_CALLERS]
SIGNATURES = {
    "chat_completions": b'"extra_content":{"google":{"thought_signature":"EjQKMgEMOdbH"}}',
    "responses": b'"gAAAAABo"',
    "messages": b'"EqQBCkYIBxgC"',
    "generate_content": b'"CiQBjz1rX7A="',
}
"""The signatures that vendors require to be sent back, by language; models are named so."""

CROSSINGS = pytest.mark.parametrize(
    ("caller", "model"),
    [
        pytest.param(caller, model, id=f"{caller.language}-{model}")
        for caller in FEATURE_CALLERS
        for model in LANGUAGES
        if caller.language != model
    ],
)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module")
def listening() -> Iterator[Vendors]:
    with vendors() as servers:
        yield servers


@pytest.fixture
def upstream(listening: Vendors) -> Vendors:
    listening.case, listening.status, listening.retry_after = "text", 200, ""
    return listening


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, listening: Vendors) -> Iterator[Running]:
    config = CONFIG.format(
        specs=SPECS, chat_routes=CHAT_ROUTES, url=listening.upstream.url, tokens=TOKENS
    )
    with gateway(tmp_path_factory.mktemp("features"), config) as started:
        yield started


@CROSSINGS
def test_an_image_reaches_the_model(
    caller: FeatureCaller, model: str, running: Running, upstream: Vendors
) -> None:
    assert caller.image(running.port, model) == "Hello there."
    assert _image(model, upstream.last) == PIXEL


def _image(language: str, body: Any) -> str:
    """The data of the image in the only turn of a request."""
    if language == "messages":
        return body["messages"][0]["content"][1]["source"]["data"]  # type: ignore[no-any-return]
    if language == "generate_content":
        return body["contents"][0]["parts"][1]["inlineData"]["data"]  # type: ignore[no-any-return]
    if language == "responses":
        url = body["input"][0]["content"][1]["image_url"]
    else:
        url = body["messages"][0]["content"][1]["image_url"]["url"]
    return str(url).removeprefix("data:image/png;base64,")


@CROSSINGS
def test_an_answer_is_parsed_by_its_schema(
    caller: FeatureCaller, model: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "object"
    assert caller.parse(running.port, model) == Place(city="Oslo", n=1.0)
    assert set(_schema(model, upstream.last)["properties"]) == {"city", "n"}


def _schema(language: str, body: Any) -> Any:
    """The schema of the answer in a request."""
    if language == "messages":
        return body["output_config"]["format"]["schema"]
    if language == "generate_content":
        return body["generationConfig"]["responseJsonSchema"]
    if language == "responses":
        return body["text"]["format"]["schema"]
    return body["response_format"]["json_schema"]["schema"]


@STREAMS
@CROSSINGS
def test_parallel_calls_and_thoughts_return_with_the_results(
    caller: FeatureCaller, model: str, stream: bool, running: Running, upstream: Vendors
) -> None:
    upstream.case = "two"
    assert caller.two_calls(running.port, model, stream=stream, error=False) == "Hello there."
    first, second = tool_results(upstream.last)  # type: ignore[arg-type]
    assert "one" in json.dumps(first)
    assert "two" in json.dumps(second)
    assert SIGNATURES[model] in upstream.upstream.last.body.replace(b'": ', b'":')


_ASKED = {
    "chat_completions": ("reasoning_effort",),
    "responses": ("reasoning", "effort"),
    "messages": ("thinking", "budget_tokens"),
    "generate_content": ("generationConfig", "thinkingConfig", "thinkingBudget"),
}
"""The member that asks each vendor to think."""


@STREAMS
@CROSSINGS
def test_thoughts_are_asked_for_and_shown(
    caller: FeatureCaller, model: str, stream: bool, running: Running, upstream: Vendors
) -> None:
    upstream.case = "thoughts"
    answer = caller.think(running.port, model, stream=stream)
    assert answer == Thoughtful("Let me look.", "Hello there.", 3)
    assert reduce(operator.getitem, _ASKED[model], upstream.last)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("caller", "target"),
    [
        pytest.param(caller, target, id=f"{caller.language}-{target}")
        for caller in FEATURE_CALLERS
        for target in LANGUAGES
        if caller.language != target and caller.language in ("messages", "generate_content")
    ],
)
def test_a_tool_that_failed_is_told_to_the_model(
    caller: FeatureCaller, target: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "two"
    caller.two_calls(running.port, target, stream=False, error=True)
    _, failed = tool_results(upstream.last)  # type: ignore[arg-type]
    text = json.dumps(failed).lower()
    assert "two" in text
    assert "error" in text


@pytest.mark.parametrize(("status", "retry_after"), [(400, ""), (429, "7"), (503, "")])
@CROSSINGS
def test_an_error_of_the_vendor_is_one_of_the_sdk(
    caller: FeatureCaller,
    model: str,
    status: int,
    retry_after: str,
    running: Running,
    upstream: Vendors,
) -> None:
    upstream.status, upstream.retry_after = status, retry_after
    failure = caller.failure(running.port, model)
    assert (failure.kind, failure.status) == (caller.failures[status], status)
    assert ERROR in failure.message
    assert failure.retry_after == (retry_after or None)


@CROSSINGS
def test_an_error_inside_a_stream_is_raised(
    caller: FeatureCaller, model: str, running: Running, upstream: Vendors
) -> None:
    upstream.case = "broken"
    with pytest.raises(caller.broken):
        caller.read_stream(running.port, model)


@STREAMS
def test_every_caller_sees_the_same_usage(
    stream: bool, running: Running, upstream: Vendors
) -> None:
    for caller in CALLERS:
        for model in LANGUAGES:
            if model != caller.language:
                reply = (caller.stream if stream else caller.ask)(running.port, model)
                assert (reply.input, reply.cached, reply.output) == (12, 4, 5), (
                    caller.language,
                    model,
                )


@STREAMS
@pytest.mark.parametrize("target", ["messages", "generate_content"])
@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.language)
def test_failover_crosses_dialects(
    caller: Caller, target: str, stream: bool, running: Running, upstream: Vendors
) -> None:
    ask = caller.stream if stream else caller.ask
    assert ask(running.port, f"away-{target}").text == "Hello there."
    assert language(target).speaks(upstream.upstream.last.target.partition("?")[0])
