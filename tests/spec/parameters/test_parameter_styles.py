"""Readers of the parameter styles, from texts under a name."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from engine.exchange.exchange import MISSING
from engine.spec.parameters.parameter_styles import (
    ParameterText,
    content_reader,
    deep_reader,
    exploded_reader,
    list_reader,
    object_reader,
    or_missing,
    parse_json,
)
from engine.spec.parameters.query_string import Query
from engine.values.errors import Malformed
from tests.support.each import each

TEXT = ParameterText("p", "query", "form", False, "p", lambda texts: texts, unquote)
QUERY = TEXT._replace(find=lambda query: query.values("p"))


def split(text: str) -> list[str]:
    return text.split(",")


def shape(tree: Any) -> Any:
    return tree


@each(("texts", "value"), [([], MISSING), (["a,b"], ["a", "b"]), (["a", "b%2Cc"], ["a", "b,c"])])
def test_a_list_is_split_before_it_is_decoded(texts: list[str], value: Any) -> None:
    assert list_reader(TEXT, split, shape)(texts) == value


def test_decoded_texts_are_split_at_encoded_commas() -> None:
    assert list_reader(TEXT.decoded(), split, shape)(["b%2Cc"]) == ["b", "c"]


def test_a_primitive_is_not_split() -> None:
    assert list_reader(TEXT, None, shape)(["a,b"]) == ["a,b"]


def test_the_empty_text_may_be_absence() -> None:
    read = or_missing(TEXT, list_reader(TEXT, None, shape))
    assert read([""]) is MISSING
    assert read(["a"]) == ["a"]


@each(
    ("texts", "value"),
    [([], MISSING), ([""], {}), (["a"], ["a"]), (["R,1,R,2,%2C,3"], {"R": ["1", "2"], ",": ["3"]})],
)
def test_an_object_is_a_list_of_names_and_values(texts: list[str], value: Any) -> None:
    assert object_reader(TEXT, split, shape)(texts) == value


def test_a_name_without_a_value_is_malformed() -> None:
    with pytest.raises(Malformed, match=r"^p: must be written name,value,name,value"):
        object_reader(TEXT, split, shape)(["R,1,G"])


def test_an_exploded_object_or_a_plain_value_is_read() -> None:
    pairs: dict[str, Any] = {"object": [("R", "1%2C")], "plain": None, "absent": None}
    text = TEXT._replace(find=lambda source: ["x"] if source == "plain" else [])
    read = exploded_reader(text, pairs.get, shape)
    assert [read("object"), read("plain"), read("absent")] == [{"R": ["1,"]}, ["x"], MISSING]


@each(
    ("query", "value"),
    [("p[a]=1&p[b][]=2", {"a": ["1"], "b": {"": ["2"]}}), ("p=1", ["1"]), ("q=1", MISSING)],
)
def test_a_deep_object_is_read_from_brackets(query: str, value: Any) -> None:
    assert deep_reader(QUERY, shape)(Query.parse(query)) == value


def test_brackets_that_belong_to_another_parameter_are_left_to_it() -> None:
    query = Query.parse("p[a]=1&p[b]=2")
    assert deep_reader(QUERY, shape, {"p[a]"})(query) == {"b": ["2"]}


def test_a_deep_object_beside_a_plain_value_is_malformed() -> None:
    with pytest.raises(Malformed, match=r"^p: given both"):
        deep_reader(QUERY, shape)(Query.parse("p=1&p[a]=2"))


def _parsed(text: str) -> object:
    return parse_json(text, "p")


def test_content_is_parsed() -> None:
    assert content_reader(TEXT, _parsed)(["%5B1]"]) == [1]
    assert content_reader(TEXT, _parsed)([]) is MISSING


@each(
    ("texts", "words"),
    [
        (["["], "not valid JSON"),
        (['{"a":1,"a":2}'], "it has an object with a repeated name"),
        (["1", "2"], "given more than once"),
    ],
)
def test_content_that_cannot_be_read_is_malformed(texts: list[str], words: str) -> None:
    with pytest.raises(Malformed, match=f"^p: {words}"):
        content_reader(TEXT, _parsed)(texts)
