"""Counts of tokens: forwarded where a target can count, estimated otherwise."""

import json

import pytest

from engine import dialects
from engine.config.model_operation import ModelOperation
from engine.exchange.exchange import Response
from engine.exchange.request_body import Body
from engine.upstream.models.token_estimate import estimate_tokens
from tests.support.exchanges import new_exchange

FORWARDED = Response(200, [], b"counted by the upstream")
PATHS = {
    "anthropic": "/messages/count_tokens",
    "gemini": "/models/{model}:countTokens",
    "openai": "/responses/input_tokens",
}


def counted(dialect="anthropic", targets=(), text="Hello there!", forwarded=FORWARDED):
    """The response to a request for a count; an upstream answers `forwarded`."""
    body = Body(json.dumps({"messages": [{"role": "user", "content": text}]}).encode())
    operation = ModelOperation("spec.count", dialect, PATHS[dialect])
    exchange = new_exchange(body=body, dialect=dialects.get(dialect), targets=targets)
    return estimate_tokens(operation, lambda _: forwarded)(exchange)


def test_a_target_that_can_count_is_asked():
    assert counted(targets=("a target",)) is FORWARDED


@pytest.mark.parametrize(
    ("dialect", "member"),
    [("anthropic", "input_tokens"), ("gemini", "totalTokens"), ("openai", "input_tokens")],
)
def test_an_estimate_is_written_in_the_language_of_the_caller(dialect, member):
    document = json.loads(counted(dialect).body)
    assert document.pop("object", "") in ("", "response.input_tokens")
    assert list(document) == [member]
    assert 0 < document[member] < 50


def test_an_estimate_is_marked():
    assert ("x-modelway-estimate", "tokens") in counted().headers


def test_a_longer_text_has_more_tokens():
    short, long = (json.loads(counted(text="word " * n).body) for n in (10, 1000))
    assert long["input_tokens"] > 50 * short["input_tokens"] / 10


def test_an_empty_request_has_one_token():
    operation = ModelOperation("spec.count", "anthropic", PATHS["anthropic"])
    response = estimate_tokens(operation, lambda _: FORWARDED)(new_exchange(body=Body(b"")))
    assert json.loads(response.body) == {"input_tokens": 1}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b'{"detail":"Not Found"}'),
        (404, iter([b"404 page", b" not found"])),
        (405, b""),
        (501, b'{"error":{"message":"Invalid URL (POST /v1/responses/input_tokens)"}}'),
    ],
)
def test_a_server_without_the_path_leaves_it_to_the_estimate(status, body):
    response = counted(targets=("a target",), forwarded=Response(status, [], body))
    assert response.status == 200
    assert ("x-modelway-estimate", "tokens") in response.headers


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b'{"error":{"message":"The model `x` does not exist"}}'),
        (404, iter([b'{"error":{"code":"mod', b'el_not_found"}}'])),
        (400, b"{}"),
        (500, b"{}"),
    ],
)
def test_other_errors_are_told(status, body):
    text = body if isinstance(body, bytes) else b'{"error":{"code":"model_not_found"}}'
    response = counted(targets=("a target",), forwarded=Response(status, [], body))
    assert (response.status, response.body) == (status, text)
