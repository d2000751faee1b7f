"""Counts of tokens: forwarded where a target can count, estimated otherwise."""

import json

import pytest

from engine import dialects
from engine.config.model_operations import ModelOperation
from engine.exchange.body import Body
from engine.exchange.exchange import Response
from engine.upstream.token_estimate import estimate_tokens
from tests.support.exchanges import new_exchange

FORWARDED = Response(200, [], b"counted by the upstream")
PATHS = {
    "anthropic": "/messages/count_tokens",
    "gemini": "/models/{model}:countTokens",
}


def counted(dialect="anthropic", targets=(), text="Hello there!"):
    """The response to a request for a count."""
    body = Body(json.dumps({"messages": [{"role": "user", "content": text}]}).encode())
    operation = ModelOperation("spec.count", dialect, PATHS[dialect])
    exchange = new_exchange(body=body, dialect=dialects.get(dialect), targets=targets)
    return estimate_tokens(operation, lambda _: FORWARDED)(exchange)


def test_a_target_that_can_count_is_asked():
    assert counted(targets=("a target",)) is FORWARDED


@pytest.mark.parametrize(
    ("dialect", "member"), [("anthropic", "input_tokens"), ("gemini", "totalTokens")]
)
def test_an_estimate_is_written_in_the_language_of_the_caller(dialect, member):
    document = json.loads(counted(dialect).body)
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
