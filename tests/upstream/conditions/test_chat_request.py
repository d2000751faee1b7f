"""The chat of a request as the neutral value."""

import json

from engine import dialects
from engine.exchange.request_body import Body
from engine.upstream.conditions.chat_request import language_of_request, read_chat
from tests.support.exchanges import new_exchange


def exchange_of(body, path, dialect):
    data = json.dumps(body).encode()
    return new_exchange(path=path, dialect=dialects.get(dialect), body=Body(data), value=body)


def test_a_chat_in_a_request_that_counts_tokens_is_read_like_the_chat():
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}]
    wrapped = {"generateContentRequest": {"model": "models/m", "contents": contents}}
    exchange = exchange_of(wrapped, "/v1beta/models/m:countTokens", "gemini")
    language = language_of_request(exchange)
    (message,) = read_chat(exchange, language).messages
    assert message.blocks[0].text == "Hi"


def test_a_request_that_is_no_chat_has_no_language():
    assert language_of_request(exchange_of({"input": "x"}, "/v1/embeddings", "openai")) is None
