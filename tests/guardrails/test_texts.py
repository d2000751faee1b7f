"""The texts of requests and answers of each format."""

import pytest

from engine import dialects
from engine.guardrails.texts import answer_texts, request_texts
from tests.support.exchanges import new_exchange

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "b"}'}}


@pytest.mark.parametrize(
    ("dialect", "body", "expected"),
    [
        (
            "openai",
            {
                "model": "m",
                "user": "u",
                "messages": [
                    {"role": "system", "content": "Be kind"},
                    {"role": "user", "content": [{"type": "text", "text": "Hi"}, IMAGE]},
                    {"role": "assistant", "content": None, "tool_calls": [CALL]},
                    {"role": "tool", "tool_call_id": "c", "content": "sunny"},
                ],
            },
            {
                "messages/0/content": "Be kind",
                "messages/1/content/0/text": "Hi",
                "messages/2/tool_calls/0/function/name": "f",
                "messages/2/tool_calls/0/function/arguments": '{"a": "b"}',
                "messages/3/content": "sunny",
                "user": "u",
            },
        ),
        (
            "anthropic",
            {"system": [{"type": "text", "text": "S"}], "messages": [{"content": "Hi"}]},
            {"system/0/text": "S", "messages/0/content": "Hi"},
        ),
        (
            "gemini",
            {"contents": [{"parts": [{"text": "Hi"}, {"inlineData": {"data": "AA"}}]}]},
            {"contents/0/parts/0/text": "Hi"},
        ),
        (
            "anthropic",
            {"messages": [{"content": [{"type": "tool_use", "id": "t", "input": {"id": "Ada"}}]}]},
            {"messages/0/content/0/input/id": "Ada"},
        ),
        (
            "anthropic",
            {"messages": [{"content": [{"source": {"type": "text", "data": "a plain text"}}]}]},
            {"messages/0/content/0/source/data": "a plain text"},
        ),
        (
            "openai",
            {"input": ["data: all of it", "data:text/plain,Ada", "data:a/b;base64,AA and Ada"]},
            {
                "input/0": "data: all of it",
                "input/1": "data:text/plain,Ada",
                "input/2": "data:a/b;base64,AA and Ada",
            },
        ),
        ("openai", [{"text": "a list"}], {"0/text": "a list"}),
        ("openai", {"input": ["a", "b"]}, {"input/0": "a", "input/1": "b"}),
        ("openai", {"prompt": "a cat", "Prompt": "a dog"}, {"prompt": "a cat", "Prompt": "a dog"}),
        (
            "plain",
            {"query": "q", "documents": [{"text": "d"}]},
            {"query": "q", "documents/0/text": "d"},
        ),
    ],
)
def test_texts_of_a_request(dialect, body, expected):
    exchange = new_exchange(dialect=dialects.get(dialect), value=body)
    texts = request_texts(exchange)
    assert {"/".join(map(str, path)): text for path, text in texts.items()} == expected


@pytest.mark.parametrize(
    ("dialect", "answer", "expected"),
    [
        (
            "openai",
            {"id": "x", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]},
            {"choices/0/message/content": "Hi"},
        ),
        (
            "anthropic",
            {
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {"to": "ada"}},
                ]
            },
            {"content/0/text": "Hi", "content/1/name": "f", "content/1/input/to": "ada"},
        ),
        (
            "gemini",
            {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
            {"candidates/0/content/parts/0/text": "Hi"},
        ),
    ],
)
def test_texts_of_an_answer(dialect, answer, expected):
    texts = answer_texts(answer, dialects.get(dialect).meter.output)
    assert {"/".join(map(str, path)): text for path, text in texts.items()} == expected


def test_what_is_nested_too_deeply_has_no_texts():
    value = "deep"
    for _ in range(500):
        value = [value]
    assert request_texts(new_exchange(value={"input": value})) == {}


def test_every_string_of_an_answer_is_a_text_where_a_dialect_counts_no_output():
    assert answer_texts({"id": "x", "result": {"words": "Hi"}}, None) == {("result", "words"): "Hi"}
