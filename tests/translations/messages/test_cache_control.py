"""Marks for the prompt cache."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.messages.cache_control import limit_marks

MARK = {"cache_control": {"type": "ephemeral"}}


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
