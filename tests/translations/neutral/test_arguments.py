"""The arguments of tool calls."""

from __future__ import annotations

import pytest
from msgspec import Raw

from engine.translations.neutral.arguments import arguments_object, arguments_of, arguments_schema
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import Tool
from tests.support.each import each


@each(
    ("arguments", "text"),
    [
        ("", b"{}"),
        (" \n", b"{}"),
        ('{"b":1.50,"a":12345678901234567890}', b'{"b":1.50,"a":12345678901234567890}'),
        (' {"a": {"x": 1E5}} ', b'{"a": {"x": 1E5}}'),
    ],
)
def test_arguments_keep_their_text(arguments: str, text: bytes) -> None:
    assert bytes(arguments_object(ToolCall(id="1", name="f", arguments=arguments))) == text


@each("arguments", ["[]", "1", '{"a":', "{}{}", "x", '{"a":' * 100_000 + "1" + "}" * 100_000])
def test_other_arguments_name_the_call(arguments: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        arguments_object(ToolCall(id="1", name="f", arguments=arguments))
    assert excinfo.value.place == "the arguments of f"


def test_arguments_in_a_request_name_their_place() -> None:
    call = ToolCall(id="1", name="f", arguments="[]", place="messages[1].tool_calls[0]")
    with pytest.raises(WrongType) as excinfo:
        arguments_object(call)
    assert excinfo.value.place == "messages[1].tool_calls[0]"


@each(
    ("schema", "expected"),
    [
        (None, {"type": "object", "properties": {}}),
        (Raw(b'{"type": "object", "x": 1.0}'), Raw(b'{"type": "object", "x": 1.0}')),
        (Raw(b'{"x": 1.0}'), {"type": "object", "x": Raw(b"1.0")}),
    ],
)
def test_the_schema_of_arguments_names_its_type(schema: Raw | None, expected: object) -> None:
    assert arguments_schema(Tool(name="f", schema=schema)) == expected


def test_a_schema_that_is_no_object_names_its_tool() -> None:
    with pytest.raises(WrongType) as excinfo:
        arguments_schema(Tool(name="f", schema=Raw(b"[]"), place="tools[0]"))
    assert excinfo.value.place == "tools[0]"


@each(
    ("raw", "text"),
    [
        (b'{"a":1.0}', '{"a":1.0}'),
        (b'"{\\"a\\":1.0}"', '{"a":1.0}'),
        (b'""', ""),
        (b"null", ""),
        (b"{}", ""),
        (b"[]", ""),
        (b"", ""),
        (b"[1]", "[1]"),  # which is refused, as no text of an object
    ],
)
def test_arguments_are_an_object_or_its_text(raw: bytes, text: str) -> None:
    assert arguments_of(Raw(raw)) == text
