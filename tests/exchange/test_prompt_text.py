"""The beginning of a prompt, in each dialect's order."""

from __future__ import annotations

from typing import Any

import orjson

from engine import dialects
from engine.exchange.exchange import MISSING
from engine.exchange.prompt_text import prompt_prefix
from tests.support.each import each
from tests.support.exchanges import new_exchange


@each(
    ("dialect", "body", "text"),
    [
        ("openai", {"messages": [{"role": "system", "content": "Be kind."}]}, "systemBe kind."),
        ("openai", {"input": "Hello", "instructions": "Be kind. "}, "Be kind. Hello"),
        ("openai", {"prompt": ["a", "b"], "model": "m"}, "ab"),
        (
            "anthropic",
            {"messages": [{"content": [{"type": "text", "text": "Hi"}]}], "system": "Kind. "},
            "Kind. textHi",
        ),
        (
            "anthropic",
            {"system": [{"type": "text", "text": "x-anthropic-billing-header: cch=1;"}, "Kind."]},
            "textKind.",
        ),
        (
            "gemini",
            {"contents": [{"parts": [{"text": "Hi"}]}], "systemInstruction": {"parts": "Kind. "}},
            "Kind. Hi",
        ),
        ("bedrock", {"system": [{"text": "Kind. "}], "messages": [{"content": "Hi"}]}, "Kind. Hi"),
        ("plain", {"other": "x"}, ""),
        ("openai", {"messages": 5}, ""),
        ("openai", "text", ""),
        ("openai", MISSING, ""),
    ],
)
def test_the_texts_of_a_prompt_stand_in_the_order_of_its_dialect(
    dialect: str, body: Any, text: str
) -> None:
    assert prompt_prefix(new_exchange(value=body, dialect=dialects.get(dialect)), 100) == text


def test_no_more_is_read_than_the_prefix() -> None:
    class Unread(dict[str, str]):
        def values(self) -> Any:
            raise AssertionError

    body = {"messages": [{"role": "", "content": "x" * 90}, {"content": "y" * 90}, Unread()]}
    assert prompt_prefix(new_exchange(value=body), 100) == "x" * 90 + "y" * 10


def test_a_prompt_may_be_as_deep_as_a_parsed_body() -> None:
    body = orjson.loads(b'{"messages":' + b"[" * 1000 + b'"Hi"' + b"]" * 1000 + b"}")
    assert prompt_prefix(new_exchange(value=body), 100) == "Hi"
