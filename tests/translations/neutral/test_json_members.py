"""Members of JSON objects are read by type, and nothing of them is lost silently."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.translations.neutral.json_members import Members, TextCache, WrongType

TEXT = b"""{"text": "a", "null": null, "number": 1.50, "list": [{"a": 1}, 2], "object": {"b": 3},
    "bad": "\xff"}"""


@pytest.mark.parametrize(
    ("read", "place", "expected"),
    [
        (lambda members: members.text("number"), "number", "a string"),
        (lambda members: members.integer("number"), "number", "a whole number"),
        (lambda members: members.members("text"), "text", "an object"),
        (lambda members: members.items("text"), "text", "a list"),
        (lambda members: list(members.objects("text")), "text", "a list"),
        (lambda members: list(members.objects("list")), "list[1]", "an object"),
        (lambda members: members.members("object").text("b"), "object.b", "a string"),
        (lambda members: members.text("bad"), "bad", "a string"),
    ],
    ids=["text", "integer", "object", "list", "objects", "item", "inner", "encoding"],
)
def test_a_value_of_another_type_is_refused_with_its_place(
    read: Callable[[Members], object], place: str, expected: str
) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(Members(TEXT))
    assert (excinfo.value.place, excinfo.value.expected) == (place, expected)


@pytest.mark.parametrize("text", [b"[]", b"", b"{", b'{"a": }', b'{"\xff": 1}', b"[" * 100_000])
def test_a_text_that_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(WrongType):
        Members(text)


def test_a_null_counts_as_absent() -> None:
    members = Members(TEXT)
    assert "null" not in members
    assert members.raw("null") is None
    assert Members(TEXT).text("null") is None
    assert Members(TEXT).members("null") is None
    assert list(Members(TEXT).objects("null")) == []
    assert "null" not in Members(TEXT).rest()


def test_what_was_not_read_remains_with_its_text_and_its_place() -> None:
    unread: list[str] = []
    members = Members(b'{"a": {"b": 1.50, "c": 2}, "d": "e"}', "", unread)
    inner = members.members("a")
    assert inner is not None
    assert inner.integer("c") == 2
    assert {name: bytes(raw) for name, raw in inner.rest().items()} == {"b": b"1.50"}
    assert members.is_text("d")
    assert not members.is_text("a")
    members.rest()
    assert unread == ["a.b", "d"]


def test_only_the_values_of_the_last_short_texts_are_kept() -> None:
    texts: list[bytes] = []
    cache = TextCache(lambda text: texts.append(text) or len(text))
    for size in (10, 10, 20_001, 20_001):
        assert cache[b" " * size] == size
    assert [len(text) for text in texts] == [10, 20_001, 20_001]
    for number in range(1_000):
        assert cache[b"%d" % number] == len(str(number))
    assert len(cache) == 256
    assert [*cache][-1] == b"999"
