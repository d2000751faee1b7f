"""The vendor's tools that the caller runs, for models of other vendors."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from engine.translations.messages.caller_tools import stands_for
from tests.support.each import each

TOOLS = [
    ("bash_20250124", "bash"),
    ("bash_20990101", "bash"),
    ("text_editor_20250124", "str_replace_editor"),
    ("text_editor_20250728", "str_replace_based_edit_tool"),
    ("memory_20250818", "memory"),
]


def functions(kind: str, unread: list[str] | None = None, **members: Any) -> list[Any]:
    raw = Raw(json.dumps({"type": kind, **members}).encode())
    return stands_for(kind, raw, "tools[0]", [] if unread is None else unread)


@each(("kind", "name"), TOOLS)
def test_a_function_stands_for_a_tool_that_the_caller_runs(kind: str, name: str) -> None:
    (function,) = functions(kind, name=name, cache_control={"type": "ephemeral"})
    assert (function.name, function.cache) == (name, "5m")
    schema = msgspec.json.decode(function.schema)
    assert schema["type"] == "object"
    assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.parametrize("kind", ["code_execution_20250825", "web_fetch_20250910"])
def test_what_the_vendor_runs_stays_the_vendors(kind: str) -> None:
    assert functions(kind, name="x") == []


def test_members_that_only_the_vendor_knows_are_noted() -> None:
    unread: list[str] = []
    functions("text_editor_20250728", unread, name="e", max_characters=9)
    assert unread == ["tools[0].max_characters"]
