"""The blocks that messages and answers consist of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations import language
from engine.translations.neutral.content import (
    CACHE_MARKS,
    Citation,
    Inline,
    Link,
    Reasoning,
    Signature,
    Text,
    ToolResult,
    at_url,
    is_sealed,
    mark,
    mark_of,
    objects,
    read_cache_mark,
    seal,
    unseal,
)
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request_json import JsonObject
from engine.translations.translation import LossRules, Translation
from engine.values.wildcard import Patterns
from tests.support.each import each


@pytest.mark.parametrize(
    ("url", "is_web"),
    [
        ("https://a.test/x.png", True),
        ("HTTP://a.test", True),
        ("httpss://a.test", False),
        ("file:///etc/passwd", False),
        ("gs://bucket/x", False),
        (" https://a.test", False),
        ("", False),
    ],
)
def test_only_http_and_https_are_links_of_the_web(url, is_web):
    assert Link(url).is_web is is_web


@each(
    ("url", "source"),
    [
        ("https://a.test/x.png", Link("https://a.test/x.png", "image/gif")),
        ("data:image/png;base64,aGk%3d", Inline("image/gif", "aGk=")),
        ("DATA:text/plain;BASE64,aGk=", Inline("image/gif", "aGk=")),
        ("data:,hi", Link("data:,hi", "image/gif")),
    ],
)
def test_a_data_url_is_content_inside_the_request(url: str, source: Inline | Link) -> None:
    assert at_url(url, "image/gif") == source


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2, (1, 2)),
        (0, 5, (0, 5)),
        (None, None, (0, 5)),
        (0, 0, (0, 5)),
        (3, 2, (0, 5)),
        (-1, 2, (0, 5)),
        (2, 6, (0, 5)),
        (1, None, (0, 5)),
    ],
)
def test_a_span_lies_in_its_text(start, end, expected):
    assert Citation("https://a", start=start, end=end).span(5) == expected


def test_a_span_is_counted_from_another_beginning():
    moved = Citation("https://a", start=4, end=6).moved(-3)
    assert (moved.start, moved.end) == (1, 3)
    assert Citation("https://a").moved(-3) == Citation("https://a")


@pytest.mark.parametrize(
    ("part", "mark"),
    [
        (b"{}", ""),
        (b'{"cache_control":null}', ""),
        (b'{"cache_control":{"type":"ephemeral"}}', "5m"),
        (b'{"cache_control":{"type":"ephemeral","ttl":"1h"}}', "1h"),
        (b'{"prompt_cache_breakpoint":{"mode":"explicit"}}', "5m"),
    ],
)
def test_the_mark_of_a_part(part: bytes, mark: str) -> None:
    assert read_cache_mark(JsonObject.read(part, "", []).extra) == mark


def test_a_mark_stays_unread_so_that_its_loss_is_named() -> None:
    unread: list[str] = []
    JsonObject.read(b'{"cache_control":{"type":"ephemeral"}}', "messages.content", unread)
    assert unread == ["messages.content.cache_control"]
    assert Patterns(CACHE_MARKS).match(unread[0])


def test_a_mark_says_how_long_unless_it_is_five_minutes() -> None:
    short: dict[str, Any] = {"type": "text"}
    long: dict[str, Any] = {"type": "text"}
    mark(short, "5m")
    mark(long, "1h")
    assert short == {"type": "text", "cache_control": {"type": "ephemeral"}}
    assert long["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_what_has_no_mark_is_unchanged() -> None:
    content: dict[str, Any] = {"type": "text"}
    mark(content, "")
    mark(None, "5m")
    assert content == {"type": "text"}


def test_marks_survive_a_gateway_between_two_of_anthropics_format() -> None:
    short, long = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
    system = [{"type": "text", "text": "Be brief.", "cache_control": long}]
    look = [{"type": "text", "text": "Look.", "cache_control": short}]
    result = {"type": "tool_result", "tool_use_id": "a", "content": "b", "cache_control": short}
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    schema = {"type": "object", "properties": {}}
    request = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "system": system,
        "messages": [
            {"role": "user", "content": look},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": "f", "input_schema": schema, "cache_control": short}],
    }
    body = json.dumps(request).encode()
    for source, target in (("messages", "chat_completions"), ("chat_completions", "messages")):
        translation = Translation(language(source), language(target))
        exchange = translation.request(body, RequestLine(), "claude-sonnet-4-5", LossRules())
        assert exchange.dropped == []
        body = exchange.target_request.body
    assert json.loads(body) == request


def test_a_result_has_the_last_mark_inside_of_it_and_thoughts_have_none() -> None:
    texts = [Text(text="a", cache="1h"), Text(text="b", cache="5m"), Text(text="c")]
    assert mark_of(ToolResult(id="x", content=[*texts])) == "5m"
    assert mark_of(ToolResult(id="x", content=[*texts], cache="1h")) == "1h"
    assert mark_of(Reasoning(text="hm", cache="5m")) == ""


@each("language", ["messages", "generate_content"])
def test_a_signature_returns_to_the_language_that_made_it(language: str) -> None:
    signature = Signature("generate_content", "a:b=")
    assert unseal(seal(signature, language), language) == signature


def test_a_signature_of_the_callers_language_is_not_sealed() -> None:
    text = seal(Signature("messages", "EqQB"), "messages")
    assert (text, is_sealed(text)) == ("EqQB", False)


@each(("value", "sealed"), [("modelway:messages:x", True), ("x", False), (None, False), (1, False)])
def test_a_seal_is_recognised(value: object, sealed: bool) -> None:
    assert is_sealed(value) == sealed


@each(
    ("value", "expected"),
    [
        ({"a": [{"x": 1}, 2, {}]}, [(0, {"x": 1}), (2, {})]),
        ({"a": {}}, []),
        ({}, []),
        ([], []),
    ],
)
def test_the_objects_of_a_list_have_their_indexes(value: object, expected: object) -> None:
    assert objects(value, "a") == expected
