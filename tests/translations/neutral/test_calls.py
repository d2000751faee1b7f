"""Names of tools and ids of calls that another vendor accepts."""

from __future__ import annotations

import re

import pytest
from msgspec import Raw

from engine.translations.neutral.calls import (
    WRAPPER,
    ToolNames,
    answer_id,
    arguments_object,
    arguments_of,
    call_id,
    wrapped_calls,
)
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ODD_NAMES = ["", "a b", "é", "f" * 65, "functions.f:0"]


def test_an_id_that_every_vendor_accepts_stays() -> None:
    assert call_id("call_A-1") == "call_A-1"


@each("identity", ODD_NAMES)
def test_another_id_becomes_a_legal_one_always_the_same(identity: str) -> None:
    legal = call_id(identity)
    assert LEGAL.fullmatch(legal)
    assert call_id(identity) == legal != call_id(identity + "x")


def test_a_vendor_with_shorter_ids_gets_shorter_ones() -> None:
    assert len(call_id("c" * 41, 40)) <= 40


@each(
    ("text", "identity"),
    [("msg_1", "msg_1"), ("chatcmpl-1", "msg_chatcmpl-1"), ("a/b c", "msg_abc"), ("", "msg_")],
)
def test_an_answer_has_an_id_with_the_prefix_of_its_language(text: str, identity: str) -> None:
    assert answer_id("msg_", text) == identity


def test_ids_of_items_stay_within_what_openai_takes_later() -> None:
    identity = answer_id("resp_", "c" * 400)
    assert identity != answer_id("resp_", "c" * 399)
    assert len(identity.replace("resp_", "msg_") + "_9999") <= 64
    assert answer_id("resp_", "chatcmpl-" + "a" * 36) == "resp_chatcmpl-" + "a" * 36


def test_a_legal_name_of_a_tool_stays_and_is_not_noted() -> None:
    names = ToolNames()
    assert (names.legal("get-weather_2"), names.originals) == ("get-weather_2", {})


@each("name", ODD_NAMES)
def test_another_name_is_given_back(name: str) -> None:
    names = ToolNames()
    legal = names.legal(name)
    assert LEGAL.fullmatch(legal)
    assert names.originals == {legal: name}


def test_long_names_with_one_beginning_stay_apart() -> None:
    names = ToolNames()
    assert names.legal("f" * 64 + "a") != names.legal("f" * 64 + "b")


def test_a_name_begins_with_a_letter_where_the_vendor_wants_one() -> None:
    names = ToolNames(first_letter=True)
    assert re.fullmatch(r"_1st_[0-9a-f]{8}", names.legal("1st"))


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


@each(
    ("name", "text", "calls"),
    [
        ("f", '{"tool_uses": []}', [("c", "f", '{"tool_uses": []}')]),
        (WRAPPER, '{"tool_uses": []}', [("c", WRAPPER, '{"tool_uses": []}')]),
        (WRAPPER, "{", [("c", WRAPPER, "{")]),
        (
            WRAPPER,
            '{"tool_uses": [{"recipient_name": "functions.f", "parameters": {"a": 1}},'
            ' {"recipient_name": "g"}]}',
            [("c", "f", '{"a": 1}'), ("c_1", "g", "{}")],
        ),
        (
            WRAPPER,
            '{"tool_uses": [{"recipient_name": "f", "parameters": "{\\"a\\": 1}"},'
            ' {"recipient_name": "g", "parameters": null}], "note": "x"}',
            [("c", "f", '{"a": 1}'), ("c_1", "g", "{}")],
        ),
    ],
)
def test_calls_are_taken_out_of_a_wrapper(
    name: str, text: str, calls: list[tuple[str, str, str]]
) -> None:
    found = wrapped_calls(ToolCall(id="c", name=name), text)
    assert [(call.id, call.name, arguments) for call, arguments in found] == calls
