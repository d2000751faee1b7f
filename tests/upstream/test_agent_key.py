"""The session of an agent: what stays the same in its turns and differs between sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine import dialects
from engine.exchange.agent_session import SESSION_HEADERS
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.upstream.agent_key import agent_key
from engine.upstream.prompt_text import prompt_prefix
from tests.support.each import each
from tests.support.exchanges import new_exchange

BILLING = "x-anthropic-billing-header: cc_version=2.1.332.1c9; cch="


def request(body: Any, dialect: str = "openai", **headers: str) -> Exchange:
    environ = {environ_key(name.replace("_", "-")): value for name, value in headers.items()}
    return new_exchange(value=body, dialect=dialects.get(dialect), environ=environ)


@each("name", list(SESSION_HEADERS))
def test_a_header_names_the_session(name: str) -> None:
    body = {"prompt_cache_key": "other", "messages": [{"role": "user", "content": "Hi"}]}
    assert agent_key(request(body, **{name.replace("-", "_"): "s1"})) == "s1"


@each(
    ("body", "key"),
    [
        ({"prompt_cache_key": "a", "user": "b"}, "a"),
        ({"user": "b", "metadata": {"user_id": "c"}}, "b"),
        ({"metadata": {"user_id": "c"}, "messages": [{"role": "user", "content": "Hi"}]}, "c"),
        ({"prompt_cache_key": None, "user": 5, "metadata": [], "input": "Hi"}, "Hi"),
        ({"prompt_cache_key": "", "input": "Hi"}, "Hi"),
        ({}, ""),
        ([], ""),
        (MISSING, ""),
    ],
)
def test_a_member_of_the_body_names_it_without_a_header(body: Any, key: str) -> None:
    assert agent_key(request(body)) == key


def chat(*texts: str) -> Any:
    roles = ["system", "user", *["assistant", "user"] * len(texts)]
    pairs = zip(roles, texts, strict=False)
    return {"messages": [{"role": role, "content": text} for role, text in pairs]}


def messages(*texts: str) -> Any:
    body = chat(*texts)
    system = [{"type": "text", "text": f"{BILLING}{len(texts)};"}, {"type": "text", "text": "Be"}]
    return {"system": system, "messages": body["messages"][1:]}


def responses(*texts: str) -> Any:
    return {"instructions": texts[0], "input": chat(*texts)["messages"][1:]}


def gemini(*texts: str) -> Any:
    contents = [
        {"role": each["role"].replace("assistant", "model"), "parts": [{"text": each["content"]}]}
        for each in chat(*texts)["messages"][1:]
    ]
    return {"systemInstruction": {"parts": [{"text": texts[0]}]}, "contents": contents}


@each(
    ("dialect", "body"),
    [("openai", chat), ("openai", responses), ("anthropic", messages), ("gemini", gemini)],
)
def test_the_turns_of_a_conversation_have_one_key(dialect: str, body: Any) -> None:
    turns = [
        agent_key(request(body("Be kind.", "Hello", *["More"] * count), dialect))
        for count in range(4)
    ]
    assert turns[0] == turns[1] == turns[2] == turns[3]
    assert "Hello" in turns[0]
    other = agent_key(request(body("Be kind.", "Other", "More"), dialect))
    assert other != turns[0]


class Numbers(list[int]):
    """A list that is longer than anybody may read."""

    def __iter__(self) -> Iterator[int]:
        for number in range(1_000_000):
            assert number < 100_000, "a body is read to its end"
            yield number


@each(
    "body",
    [
        {"messages": [{"role": "user", "content": Numbers()}]},
        {"messages": [{"role": "assistant", "content": ""}] * 5 + [{"content": Numbers()}]},
        {"input": Numbers()},
    ],
)
def test_a_body_without_texts_is_not_read_to_its_end(body: Any) -> None:
    """A large one may be all numbers, and nobody else is served meanwhile."""
    assert "4" not in agent_key(request(body))
    assert "4" not in prompt_prefix(request(body), 1_000)
