"""Names of tools and ids of calls that another vendor accepts."""

from __future__ import annotations

import re

from engine.translations.neutral.names import ToolNames, answer_id, call_id
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
