"""Marks for the prompt cache."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.messages.cache_control import limit_marks, mark_of
from engine.translations.neutral.content import Reasoning, Text, ToolResult

MARK = {"cache_control": {"type": "ephemeral"}}


def test_a_result_has_the_last_mark_inside_of_it_and_thoughts_have_none() -> None:
    texts = [Text(text="a", cache="1h"), Text(text="b", cache="5m"), Text(text="c")]
    assert mark_of(ToolResult(id="x", content=[*texts])) == "5m"
    assert mark_of(ToolResult(id="x", content=[*texts], cache="1h")) == "1h"
    assert mark_of(Reasoning(text="hm", cache="5m")) == ""


def test_only_the_last_four_marks_are_left() -> None:
    body = {
        "tools": [{"name": "a", **MARK}, {"name": "b"}],
        "system": [{"type": "text", **MARK}],
        "messages": [
            {"content": [{"n": 0, **MARK}, Raw(b"{}")]},
            {"content": "text"},
            {"content": [{"n": 1, **MARK}, {"n": 2, **MARK}]},
        ],
    }
    limit_marks(body)
    assert body["tools"] == [{"name": "a"}, {"name": "b"}]
    assert body["system"] == [{"type": "text", **MARK}]
    assert body["messages"][2]["content"] == [{"n": 1, **MARK}, {"n": 2, **MARK}]  # type: ignore[index]
