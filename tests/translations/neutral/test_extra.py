"""Members that only their own language knows."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from engine.translations.neutral.extra import add_extra, extra_inside


def test_unknown_members_of_an_object_inside_stay_inside() -> None:
    members: dict[str, Any] = {"function": {"name": "f"}, "type": "function"}
    inner = extra_inside("function", {"x": Raw(b"1.50")})
    add_extra(members, {**inner, "y": Raw(b"2")})
    assert members == {
        "function": {"name": "f", "x": Raw(b"1.50")},
        "type": "function",
        "y": Raw(b"2"),
    }


def test_an_object_that_is_not_written_comes_whole() -> None:
    members: dict[str, Any] = {}
    add_extra(members, extra_inside("function", {"x": Raw(b"1")}))
    assert members == {"function": Raw(b'{"x":1}')}


def test_an_object_without_unknown_members_adds_nothing() -> None:
    assert extra_inside("function", {}) == {}


def test_what_is_written_is_not_changed_inside() -> None:
    inner = {"name": "f"}
    add_extra({"function": inner}, {"function": Raw(b'{"x":1}')})
    assert inner == {"name": "f"}
