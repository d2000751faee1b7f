"""The tokens of requests, counted by the tokenizer of their model."""

import json

import pytest

from engine import dialects, translations
from engine.config.model_operation import ModelOperation
from engine.exchange.exchange import MISSING, Response
from engine.exchange.request_body import Body
from engine.metering.estimate import BYTES_PER_TOKEN, estimate
from engine.metering.tokenizer import load
from engine.translations.neutral.language import RequestLine
from engine.upstream.models.token_counter import (
    MARKS,
    START,
    PromptParts,
    estimate_tokens,
    prompt_parts,
    token_counter,
)
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


TOOL = {"name": "look", "description": "Looks.", "schema": {"type": "object", "properties": {}}}
DECLARATION = json.dumps(
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
)


def parts_of(language, body):
    read = translations.language(language).read_request
    return prompt_parts(read(json.dumps(body).encode(), RequestLine()))


CHATS = {
    "messages": {
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=1; cch=1;"},
            {"type": "text", "text": "Be brief."},
        ],
        "tools": [
            {
                "name": TOOL["name"],
                "description": TOOL["description"],
                "input_schema": TOOL["schema"],
            }
        ],
        "messages": [
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {"a": 1}}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "Oslo"},
                    {"type": "text", "text": "Sure?"},
                ],
            },
        ],
    },
    "chat_completions": {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": TOOL["schema"],
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"a":1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "Oslo"},
            {"role": "user", "content": "Sure?"},
        ],
    },
    "responses": {
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Looks.",
                "parameters": TOOL["schema"],
                "strict": False,
            }
        ],
        "input": [
            {"role": "user", "content": "Where?"},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c", "output": "Oslo"},
            {"role": "user", "content": "Sure?"},
        ],
    },
    "generate_content": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "look", "description": "Looks.", "parameters": TOOL["schema"]}
                ]
            }
        ],
        "contents": [
            {"role": "user", "parts": [{"text": "Where?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"a": 1}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "look", "response": {"output": "Oslo"}}},
                    {"text": "Sure?"},
                ],
            },
        ],
    },
}


@pytest.mark.parametrize("language", CHATS)
def test_one_conversation_has_the_same_prompt_in_each_language(language):
    parts = parts_of(language, CHATS[language])
    texts = [text.replace('"a": 1', '"a":1') for text in parts.texts if text]
    call = '{"name": "look", "arguments": {"a":1}}'
    assert texts == ["Be brief.", DECLARATION, "Where?", call, "Oslo", "Sure?"]
    assert (parts.turns, parts.files) == (5, [])


def test_files_are_counted_by_their_size_and_documents_by_their_text():
    content = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000},
        },
        {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Some words"},
        },
    ]
    parts = parts_of("messages", {"messages": [{"role": "user", "content": content}]})
    assert parts == PromptParts(["Some words"], 1, [3_000, 0])


def test_a_turn_of_two_results_is_two_turns_of_a_template():
    results = [
        {"type": "tool_result", "tool_use_id": each, "content": each} for each in ("one", "two")
    ]
    messages = [{"role": "user", "content": results}]
    assert parts_of("messages", {"messages": messages}) == PromptParts(["one", "two"], 2, [])


def test_a_tool_of_the_vendor_is_counted_as_it_is_declared():
    tool = {"type": "web_search_20250305", "name": "web_search"}
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    [declaration, _] = parts_of("messages", body).texts
    assert json.loads(declaration) == tool


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
