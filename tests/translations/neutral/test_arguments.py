"""The arguments of tool calls."""

from __future__ import annotations

import pytest

from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import WrongType
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


@each("arguments", ["[]", "1", '{"a":', "{}{}", "x", '{"a":' * 5000 + "1" + "}" * 5000])
def test_other_arguments_name_the_call(arguments: str) -> None:
    with pytest.raises(WrongType) as caught:
        arguments_object(ToolCall(id="1", name="f", arguments=arguments))
    assert caught.value.place == "the arguments of f"


def test_arguments_in_a_request_name_their_place() -> None:
    call = ToolCall(id="1", name="f", arguments="[]", place="messages[1].tool_calls[0]")
    with pytest.raises(WrongType) as caught:
        arguments_object(call)
    assert caught.value.place == "messages[1].tool_calls[0]"
