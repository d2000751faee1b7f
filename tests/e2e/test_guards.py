"""Guards hold for every way in which an upstream may read a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.each import each
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import answer, ask, request
from tests.support.running import ALL, LIMITED, replaced, shipped

GENERATE = "/v1beta/models/gemini-2.5-flash:generateContent"
COUNT = "/v1beta/models/gemini-2.5-flash:countTokens"
CHAT = "/v1/chat/completions"
CONTENTS = [{"parts": [{"text": "hi"}]}]
MESSAGES = [{"role": "user", "content": "hi"}]
POLICIES = """
policies:
  - deny: {if: {body: {/generationConfig/candidateCount: {minimum: 2}}}}
  - deny: {if: {body: {/generation_config/max_output_tokens: {minimum: 4097}}}}
  - deny: {if: {body: {cached_content: {}}}}
  - deny: {if: {body: {tools: {contains: {required: [googleSearch]}}}}}
  - deny: {if: {body: {stream: true}, header: {x-tier: [slow]}}}
  - deny: {if: {header: {anthropic-beta: [evil]}}}
  - transform: {request: {body: {remove: [safety_settings], default: {/generationConfig/topK: 5}}}}
"""
ANSWER = json.dumps({"candidates": [{}], "usageMetadata": {"promptTokenCount": 1}}).encode()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("guards") / "project"
    config = replaced(shipped(folder), "\npolicies:.*\n", POLICIES)
    with recorded_gateway(folder, config) as running:
        yield running


def sent(recorded: RecordedGateway, path: str, body: Any, *headers: str) -> tuple[int, Any]:
    """Status of an answer, and the body that reached the upstream, or the error of a refusal."""
    recorded.upstream.reset()
    recorded.upstream.speak = answer(ANSWER)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = ask(recorded.gateway.port, request(path, data, headers=headers, token=ALL))
    if response.status == 200:
        return 200, json.loads(recorded.upstream.last.body)
    assert recorded.upstream.requests == []
    return response.status, response.json()["error"]


@each(
    "members",
    [
        {"generationConfig": {"candidateCount": 2}},
        {"generation_config": {"candidate_count": 2}},
        {"generation_config": {"candidateCount": 2}},
        {"generationConfig": {"candidate_count": 2}},
        {"generationConfig": {"candidateCount": "2"}},
        {"generationConfig": {"maxOutputTokens": 5000}},
        {"generation_config": {"max_output_tokens": 5000}},
        {"cachedContent": "cachedContents/a"},
        {"cached_content": "cachedContents/a"},
        {"tools": [{"google_search": {}}]},
        {"tools": [{"googleSearch": {}}]},
    ],
)
def test_either_spelling_of_a_member_is_denied(recorded: RecordedGateway, members: Any) -> None:
    status, error = sent(recorded, GENERATE, {"contents": CONTENTS, **members})
    assert status == 400, error


def test_both_spellings_at_once_are_refused_and_named(recorded: RecordedGateway) -> None:
    config = {"maxOutputTokens": 1, "max_output_tokens": 9}
    status, error = sent(recorded, GENERATE, {"contents": CONTENTS, "generation_config": config})
    assert (status, error["param"]) == (400, "generationConfig.max_output_tokens")
    assert "'max_output_tokens' and 'maxOutputTokens'" in error["message"]


@each(
    "members",
    [
        b'"generationConfig":{"candidateCount":8},"generationConfig":{}',
        b'"generation_config":{"candidate_count":8},"generation_config":{"topK":1}',
    ],
)
def test_a_member_that_only_the_first_of_two_objects_has_is_denied(
    recorded: RecordedGateway, members: bytes
) -> None:
    contents = json.dumps(CONTENTS).encode()
    status, error = sent(recorded, GENERATE, b'{"contents":' + contents + b"," + members + b"}")
    assert status == 400
    assert "given twice" in error["message"]


def test_transforms_find_either_spelling(recorded: RecordedGateway) -> None:
    for config, settings in (
        ("generation_config", "safety_settings"),
        ("generationConfig", "safetySettings"),
    ):
        body = {"contents": CONTENTS, config: {"temperature": 1.50}, settings: []}
        status, received = sent(recorded, GENERATE, body)
        assert status == 200, received
        assert received == {
            "contents": CONTENTS,
            "generationConfig": {"temperature": 1.5, "topK": 5},
        }
    kept = {"contents": CONTENTS, "generation_config": {"top_k": 7}}
    assert sent(recorded, GENERATE, kept)[1]["generationConfig"] == {"topK": 7}


def test_the_model_is_compared_in_either_spelling(recorded: RecordedGateway) -> None:
    other = {"model": "models/gemini-other", "contents": CONTENTS}
    for name in ("generateContentRequest", "generate_content_request"):
        status, error = sent(recorded, COUNT, {name: other})
        assert (status, error["param"]) == (400, "generateContentRequest.model")


def test_keys_of_data_stay_as_they_are(recorded: RecordedGateway) -> None:
    schema = {"type": "object", "properties": {"user_name": {"type": "string", "max_length": 5}}}
    call = {"name": "a_b", "args": {"max_output_tokens": 1, "maxOutputTokens": 2}}
    body = {
        "contents": [{"parts": [{"function_call": call}]}],
        "labels": {"cost_center": "x"},
        "tools": [{"function_declarations": [{"name": "a_b", "parameters": schema}]}],
    }
    status, received = sent(recorded, GENERATE, body)
    assert status == 200, received
    assert received["contents"] == [{"parts": [{"functionCall": call}]}]
    assert received["labels"] == {"cost_center": "x"}
    (declaration,) = received["tools"][0]["functionDeclarations"]
    assert declaration["parameters"] == schema


def test_a_request_in_the_documented_spelling_keeps_its_bytes(recorded: RecordedGateway) -> None:
    body = b'{ "contents":[{"parts":[{"text":"a_b"}]} ],"generationConfig":{"topK": 1.0},"x":1e3}'
    assert sent(recorded, GENERATE, body)[0] == 200
    assert recorded.upstream.last.body == body


def test_an_element_of_a_header_is_denied(recorded: RecordedGateway) -> None:
    chat = {"model": "gpt-4o", "messages": MESSAGES}
    for headers in (
        ("anthropic-beta: evil,good",),
        ("anthropic-beta: good", "anthropic-beta: evil"),
        ("anthropic-beta: good , evil",),
    ):
        status, error = sent(recorded, CHAT, chat, *headers)
        assert (status, error["param"]) == (400, "anthropic-beta"), headers
    assert sent(recorded, CHAT, chat, "anthropic-beta: good, better")[0] == 200


def test_a_header_that_is_no_list_is_not_repeated(recorded: RecordedGateway) -> None:
    data = json.dumps({"model": "gpt-4o", "messages": MESSAGES}).encode()
    for name in ("User-Agent", "OpenAI-Organization", "Authorization"):
        repeated = [f"{name}: Bearer {LIMITED}", f"{name}: b"]
        token = "" if name == "Authorization" else ALL
        response = ask(recorded.gateway.port, request(CHAT, data, headers=repeated, token=token))
        assert response.status == 400, name
