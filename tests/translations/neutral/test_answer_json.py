"""JSON that is decoded into values of a known shape."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral import answer_json
from engine.translations.neutral.answer_json import Shape as AnswerShape
from engine.translations.neutral.answer_json import Surrogates, is_blank, raw_at
from engine.translations.neutral.json_members import WrongType, read_shape
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
        (b'{"number":1e999}', "number", "a smaller number"),
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


class Named(Struct):
    name: str | None = None
    index: int | None = None
    share: float | None = None
    flag: bool | None = None
    inner: list[Inner] | None = None
    kept: list[Inner] | None = None
    raw: Raw = Raw()


NAMED = AnswerShape(Named, {"kept"}, {"name"})


@each(
    ("text", "value"),
    [
        (b'{"name":5.50}', Named(name="5.50")),
        (b'{"name":{"a": 1.0}}', Named(name='{"a": 1.0}')),
        (b'{"name":[],"index":false,"flag":"","inner":{}}', Named()),
        (b'{"index":"7","share":"0.5"}', Named(index=7, share=0.5)),
        (b'{"index":7.9}', Named(index=7)),
        (b'{"flag":"true","inner":[{"text":3}]}', Named(flag=True, inner=[Inner(text="3")])),
        (b'{"flag":"false"}', Named(flag=False)),
        (b'{"kept":[{"text":["a"]}],"raw":1.50}', Named(kept=[], raw=Raw(b"1.50"))),
        (b'{"kept":["a",{"text":"b"},{"text":["c"]}]}', Named(kept=[Inner(text="b")])),
        (b'{"kept":"later","index":2.0}', Named(index=2)),
    ],
)
def test_an_odd_value_of_an_answer_is_read_as_what_it_says(text: bytes, value: Named) -> None:
    assert NAMED.read(text) == value


@each(
    ("text", "place"),
    [
        (b'{"name":["a"]}', "p.name"),
        (b'{"name":true}', "p.name"),
        (b'{"index":"seven"}', "p.index"),
        (b'{"index":1e300}', "p.index"),
        (b'{"inner":[{"text":["a"]}]}', "p.inner[0].text"),
        (b'{"inner":[{"text":["a"]}],"inner":[]}', "p.inner[0].text"),
        (b'["a"]', "p"),
        (b"{", "p"),
    ],
)
def test_what_is_needed_and_says_nothing_is_named(text: bytes, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        NAMED.read(text, "p")
    assert excinfo.value.place == place


def test_the_amendments_of_a_text_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_json, "MAX_READ", 1_000)
    odd = b'{"inner":[%b]}' % b",".join([b'{"text":1}'] * 20)
    with pytest.raises(WrongType, match=r"inner\[\d\]"):
        NAMED.read(odd)


def test_the_text_of_a_value_inside_another() -> None:
    text = b'{"a":[{"b":1.50}]}'
    assert bytes(raw_at(text, "a", 0, "b")) == b"1.50"
    for steps in (("b",), ("a", 1), ("a", 0, "c")):
        assert raw_at(text, *steps) == Raw(b"null")


@each(
    ("texts", "joined"),
    [
        (['"a\\ud83d"', '"\\ude00b"'], ["a", "\U0001f600b"]),
        (['"a\\uD83D"', '"x"', '"\\uDE00"'], ["a", "x", "\ufffd"]),  # another text has none
        (['["\\ud83d", "\\ud83d"]', '["\\ude00", "\\ude00"]'], [["", ""], ["\U0001f600"] * 2]),
        (['"\\ud83d\\ude00"'], ["\U0001f600"]),
        (['"\\ud83d b"'], ["\ufffd b"]),
        (['"a\\ude00"'], ["a\ufffd"]),
        (['"\\\\ud83d"', '"\\u0041\\n\\""'], ["\\ud83d", 'A\n"']),
    ],
)
def test_halves_are_joined(texts: list[str], joined: list[object]) -> None:
    surrogates = Surrogates()
    assert [json.loads(surrogates.joined(each.encode())) for each in texts] == joined


def test_a_text_with_whole_pairs_is_as_it_was() -> None:
    text = rb'{"a": "\ud83d\ude00 \\ud83d \u00e4 \n", "b": "\xc3\xa4"}'
    assert Surrogates().joined(text) == text
