"""JSON that is decoded into values of a known shape."""

from __future__ import annotations

import pytest
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.members import WrongType
from engine.translations.neutral.shapes import is_blank, read_shape
from tests.support.each import each


class Inner(Struct):
    text: str | None = None
    count: int | None = None


class Shape(Struct):
    inner: list[Inner] | None = None
    number: float | None = None
    flag: bool | None = None
    raw: Raw = Raw()


SHAPE = Decoder(Shape)


def refusal(text: bytes, place: str = "") -> tuple[str, str]:
    with pytest.raises(WrongType) as excinfo:
        read_shape(SHAPE, text, place)
    return excinfo.value.place, excinfo.value.expected


def test_unknown_members_and_nulls_are_passed_over() -> None:
    text = b'{"other":{"inner":1},"inner":[{"text":null,"count":2}],"number":null,"raw":[1.0]}'
    assert read_shape(SHAPE, text) == Shape([Inner(count=2)], raw=Raw(b"[1.0]"))


@each(
    ("text", "place", "expected"),
    [
        (b'{"inner":[{},{"text":5}]}', "inner[1].text", "a string"),
        (b'{"inner":[{"count":1.5}]}', "inner[0].count", "a whole number"),
        (b'{"inner":[null]}', "inner[0]", "an object"),
        (b'{"inner":{}}', "inner", "a list"),
        (b'{"number":"1"}', "number", "a number"),
        (b'{"flag":0}', "flag", "true or false"),
        (b'{"number":1e999}', "number", "no number out of all bounds"),
        (b"[]", "the JSON text", "an object"),
        (b"", "the JSON text", "an object"),
        (b"{", "the JSON text", "an object"),
        (b'{"inner":[{"text":"\\ud800"}]}', "the JSON text", "an object"),
        (b'{"inner":[{"text":"\xff"}]}', "the JSON text", "an object"),
        (b'{"other":' + b"[" * 100_000, "the JSON text", "an object"),
    ],
)
def test_a_member_of_another_type_is_named(text: bytes, place: str, expected: str) -> None:
    assert refusal(text) == (place, expected)


@each(
    ("text", "place"),
    [(b'{"flag":0}', "a[0].flag"), (b"[]", "a[0]"), (b"{", "a[0]")],
)
def test_a_text_inside_another_is_named_with_its_place(text: bytes, place: str) -> None:
    assert refusal(text, "a[0]")[0] == place


def test_a_list_at_a_place() -> None:
    with pytest.raises(WrongType) as excinfo:
        read_shape(Decoder(list[Inner]), b'[{"text":1}]', "a")
    assert excinfo.value.place == "a[0].text"


def test_what_says_nothing_is_blank() -> None:
    for blank in (None, "", 0, False, [], {}, {"a": "", "b": {"c": None}}):
        assert is_blank(blank)
    for said in ("a", 1, True, [""], {"a": {"b": "c"}}):
        assert not is_blank(said)
