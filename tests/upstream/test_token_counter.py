"""The tokens of requests, counted by the tokenizer of their model."""

import json

import pytest

from engine import dialects
from engine.exchange.body import Body
from engine.exchange.exchange import MISSING
from engine.metering.estimate import BYTES_PER_TOKEN, estimate
from engine.metering.tokenizer import load
from engine.upstream.token_counter import MARKS, START, token_counter
from engine.values.usage import Takes
from tests.support.exchanges import new_exchange
from tests.support.small_tokenizer import tokenizer_file

TURN = [{"role": "user", "content": "one two three"}]
CONTENTS = [{"role": "user", "parts": [{"text": "one two three"}]}]


@pytest.fixture(scope="module")
def count():
    return token_counter(load(tokenizer_file()))


def request(body, path="/v1/messages", dialect="anthropic"):
    data = json.dumps(body).encode()
    return new_exchange(path=path, dialect=dialects.get(dialect), body=Body(data), value=body)


@pytest.mark.parametrize(
    ("dialect", "path", "body"),
    [
        ("anthropic", "/v1/messages", {"messages": TURN}),
        ("anthropic", "/v1/messages/count_tokens", {"messages": TURN}),
        ("openai", "/v1/chat/completions", {"messages": TURN}),
        ("openai", "/v1/responses", {"input": "one two three"}),
        ("openai", "/v1/responses/input_tokens", {"input": TURN}),
        ("gemini", "/v1beta/models/m:generateContent", {"contents": CONTENTS}),
        ("gemini", "/v1beta/models/m:streamGenerateContent", {"contents": CONTENTS}),
        ("gemini", "/v1beta/models/m:countTokens", {"contents": CONTENTS}),
        (
            "gemini",
            "/v1beta/models/m:countTokens",
            {"generateContentRequest": {"model": "models/m", "contents": CONTENTS}},
        ),
    ],
)
def test_a_turn_of_three_words_in_each_language(count, dialect, path, body):
    assert count(request(body, path, dialect)) == 3 + MARKS + START


@pytest.mark.parametrize(
    ("path", "body", "tokens"),
    [
        ("/v1/embeddings", {"input": ["one two", "three"]}, 3),
        ("/v1/embeddings", {"input": [[5, 6], [7]]}, 3),
        ("/v1/completions", {"prompt": "one, two"}, 3),
    ],
)
def test_what_is_no_chat_has_the_tokens_of_its_prompt(count, path, body, tokens):
    assert count(request(body, path, "openai")) == tokens


def test_an_image_has_the_tokens_of_a_file(count):
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 200_000}
    content = [{"type": "text", "text": "one"}, {"type": "image", "source": source}]
    tokens = count(request({"messages": [{"role": "user", "content": content}]}))
    assert 256 < tokens < 4_096 + 10


@pytest.mark.parametrize("body", [{"messages": 5}, {"messages": [{"role": "user"}]}])
def test_what_cannot_be_read_is_estimated_by_its_bytes(count, body):
    exchange = request(body)
    exchange.model.count_tokens = count
    assert estimate(exchange, Takes()).input == exchange.body.size // BYTES_PER_TOKEN


def test_the_estimate_of_limits_is_the_count(count):
    exchange = request({"messages": TURN, "max_tokens": 7})
    exchange.model.count_tokens = count
    usage = estimate(exchange, Takes(output=dialects.get("anthropic").request_fields.output))
    assert (usage.input, usage.output, usage.source) == (3 + MARKS + START, 7, "estimated")


def test_a_body_that_was_not_parsed_is_estimated_by_its_bytes(count):
    exchange = request({"messages": TURN})
    exchange.model.count_tokens = count
    exchange.content = exchange.content._replace(value=MISSING)
    assert estimate(exchange, Takes()).input == exchange.body.size // BYTES_PER_TOKEN
