"""What a request contains, and how long it is."""

import json

import pytest

from engine import dialects
from engine.exchange.request_body import Body
from engine.spec.bodies.multipart import Part
from engine.upstream.conditions.request_facts import RequestFacts, language_of_request, read_chat
from tests.support.exchanges import new_exchange

PNG = "iVBORw0KGgo="
OPENAI, ANTHROPIC, GEMINI = "openai", "anthropic", "gemini"
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
GENERATE = "/v1beta/models/m:generateContent"


def facts(body, path=CHAT, dialect=OPENAI):
    data = json.dumps(body).encode()
    exchange = new_exchange(path=path, dialect=dialects.get(dialect), body=Body(data), value=body)
    return RequestFacts(exchange)


def turns(*parts):
    return {"model": "m", "messages": [{"role": "user", "content": [*parts]}]}


TEXT = {"type": "text", "text": "Hi"}
SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}


@pytest.mark.parametrize(
    ("body", "path", "dialect", "expected"),
    [
        (turns(TEXT), CHAT, OPENAI, set()),
        (
            turns(TEXT, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}),
            *(CHAT, OPENAI, {"image"}),
        ),
        (
            turns({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}),
            *(CHAT, OPENAI, {"audio"}),
        ),
        (
            {
                "model": "m",
                "input": [
                    {
                        "role": "user",
                        "content": [{"type": "input_file", "file_url": "https://x.test/a.pdf"}],
                    }
                ],
            },
            *("/v1/responses", OPENAI, {"file"}),
        ),
        (turns(TEXT, {"type": "image", "source": SOURCE}), MESSAGES, ANTHROPIC, {"image"}),
        (
            {
                "model": "m",
                "max_tokens": 5,
                "messages": [
                    {"role": "user", "content": "x"},
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
                    },
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "t",
                                "content": [{"type": "image", "source": SOURCE}],
                            }
                        ],
                    },
                ],
            },
            *(MESSAGES, ANTHROPIC, {"image"}),
        ),
        (
            {"contents": [{"parts": [{"inlineData": {"mimeType": "video/mp4", "data": PNG}}]}]},
            *(GENERATE, GEMINI, {"video"}),
        ),
        ({"messages": 5}, CHAT, OPENAI, set()),
        ({"input": "x"}, "/v1/embeddings", OPENAI, set()),
    ],
)
def test_media_of_each_format_of_chat(body, path, dialect, expected):
    assert facts(body, path, dialect).media == expected


def test_media_of_the_files_of_a_form():
    exchange = new_exchange(path="/v1/images/edits", dialect=dialects.get(OPENAI))
    exchange.content = exchange.content._replace(
        parts=[
            Part("prompt", None, None, 0, 5),
            Part("image", "a.png", "image/png", 5, 9),
            Part("more", "a.bin", None, 9, 12),
        ]
    )
    assert RequestFacts(exchange).media == {"image", "file"}


def test_tokens_are_estimated_by_bytes_and_counted_by_a_tokenizer():
    asked = facts(turns(TEXT))
    assert asked.tokens == len(json.dumps(turns(TEXT))) // 4
    counted = facts(turns(TEXT))
    counted.exchange.model.count_tokens = lambda exchange: 77
    assert counted.tokens == 77


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
