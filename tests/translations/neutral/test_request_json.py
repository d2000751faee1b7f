"""JSON objects are read alike in one step and member by member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request_json import (
    JsonObject,
    UnknownObject,
    kind_of,
    present,
)


class Word(JsonObject, tag="word"):
    text: str
    citation: Raw = Raw()


class Picture(JsonObject, tag="picture"):
    size: int | None = None


class Turn(JsonObject):
    content: str | list[Word | Picture | UnknownObject] | None = None
    names: list[str] | None = None


class Question(JsonObject, tag="question", tag_field="role"):
    pass


class Reply(JsonObject, tag="reply", tag_field="role"):
    pass


class Quiet(JsonObject):
    notes = False

    depth: float | None = None


class Chat(JsonObject):
    turns: list[Turn] | None = None
    quiet: Quiet | None = None
    last: Question | Reply | None = None
    stream: bool | None = None


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_PARTS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("word"), "text": _TEXTS},
        optional={"citation": st.none() | st.lists(st.integers(), max_size=2)},
    ),
    st.fixed_dictionaries(
        {"type": st.just("picture")}, optional={"size": st.integers() | st.none()}
    ),
)
_TURNS = st.fixed_dictionaries(
    {},
    optional={
        "content": st.none() | _TEXTS | st.lists(_PARTS, max_size=3),
        "names": st.none() | st.lists(_TEXTS, max_size=3),
    },
)
_CHATS = st.fixed_dictionaries(
    {},
    optional={
        "turns": st.none() | st.lists(_TURNS, max_size=3),
        "quiet": st.none() | st.fixed_dictionaries({"depth": st.floats(0, 9)}),
        "stream": st.none() | st.booleans(),
    },
)


def read(document: Any) -> tuple[Chat, list[str]]:
    unread: list[str] = []
    return Chat.read(json.dumps(document).encode(), "", unread), unread


def plain(value: Any) -> Any:
    """A value without its unknown members; a null counts as absent."""
    if isinstance(value, JsonObject):
        fields = {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        return type(value), {name: each for name, each in fields.items() if each is not None}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return present(value) if isinstance(value, Raw) else value


def with_unknown(value: Any) -> Any:
    """A JSON value whose objects all have another member."""
    if isinstance(value, list):
        return [with_unknown(each) for each in value]
    if isinstance(value, dict):
        return {name: with_unknown(each) for name, each in value.items()} | {"more": 1}
    return value


@given(_CHATS)
def test_unknown_members_change_nothing_of_the_known_ones(document: Any) -> None:
    unread: list[str] = []
    chat, unread = read(document)
    assert unread == []
    assert plain(read(with_unknown(document))[0]) == plain(chat)


def test_unknown_members_are_kept_and_their_places_noted() -> None:
    turn = {"content": [{"type": "word", "text": "", "a": 1.50}], "b": None, "c": 2}
    chat, unread = read({"turns": [{}, turn], "d": 3})
    assert unread == ["turns[1].content[0].a", "turns[1].c", "d"]
    assert chat.turns is not None
    assert chat.extra == {"d": Raw(b"3")}
    assert [each.extra for each in chat.turns] == [{}, {"c": Raw(b"2")}]


def test_places_are_not_noted_where_they_are_no_loss() -> None:
    chat, unread = read({"quiet": {"a": 1}})
    assert unread == []
    assert chat.quiet is not None
    assert chat.quiet.extra == {"a": Raw(b"1")}


@pytest.mark.parametrize("kind", ["", "sound", None])
def test_an_object_of_an_unknown_kind_keeps_its_text(kind: str | None) -> None:
    part = {"type": kind, "mark": None}
    chat, unread = read({"turns": [{"content": [part]}]})
    assert chat.turns is not None
    assert isinstance(chat.turns[0].content, list)
    (unknown,) = chat.turns[0].content
    assert isinstance(unknown, UnknownObject)
    assert (unknown.kind, json.loads(bytes(unknown.raw)), unread) == (kind, part, [])


WRONG: list[tuple[Any, str, str]] = [
    ([], "the JSON text", "an object"),
    ({"turns": {}}, "turns", "a list"),
    ({"turns": [{}, None]}, "turns[1]", "an object"),
    ({"turns": [{"content": 1}]}, "turns[0].content", "a list"),
    ({"turns": [{"content": {}}]}, "turns[0].content", "a list"),
    ({"turns": [{"content": [1]}]}, "turns[0].content[0]", "an object"),
    ({"turns": [{"content": [{"type": 1}]}]}, "turns[0].content[0].type", "a string"),
    ({"turns": [{"content": [{"type": "word"}]}]}, "turns[0].content[0].text", "a string"),
    (
        {"turns": [{"content": [{"type": "picture", "size": "1"}]}]},
        "turns[0].content[0].size",
        "a whole number",
    ),
    ({"turns": [{"names": ["a", 1]}]}, "turns[0].names", "a list of strings"),
    ({"quiet": {"depth": True}}, "quiet.depth", "a number"),
    ({"last": {"role": "song"}}, "last.role", "question or reply"),
    ({"last": {}}, "last.role", "question or reply"),
    ({"stream": "yes"}, "stream", "true or false"),
]


@pytest.mark.parametrize(
    ("document", "place", "expected"), WRONG, ids=[str(each[0]) for each in WRONG]
)
def test_a_value_of_another_type_is_refused_with_its_place(
    document: Any, place: str, expected: str
) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(document)
    assert (excinfo.value.place, excinfo.value.expected) == (place, expected)


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": }', b'{"stream": "\xff"}', b"[" * 100_000])
def test_a_text_that_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(WrongType):
        Chat.read(text, "", [])


def test_the_kind_of_an_object_is_its_type() -> None:
    assert kind_of(Raw(b'{"a": 1, "type": "b"}'), "place") == "b"
    assert kind_of(Raw(b'{"type": null}'), "place") is None


class Marks(JsonObject):
    id: Raw = Raw()
    status: Raw = Raw()
    fixed_place: Raw = Raw()


@pytest.mark.parametrize("blank", ["null", '""', "[]"])
def test_an_unknown_member_without_content_is_none(blank: str) -> None:
    unread: list[str] = []
    chat = Chat.read(f'{{"stream": true, "x": {blank}, "y": {{}}}}'.encode(), "", unread)
    assert (list(chat.extra), unread) == (["y"], ["y"])


@pytest.mark.parametrize("unknown", ["", ', "x": 1'])
def test_a_float_that_is_whole_is_a_whole_number(unknown: str) -> None:
    assert Picture.read(f'{{"type": "picture", "size": 12.0{unknown}}}'.encode(), "", []).size == 12
    with pytest.raises(WrongType, match="a whole number"):
        Picture.read(f'{{"type": "picture", "size": 1.5{unknown}}}'.encode(), "", [])
