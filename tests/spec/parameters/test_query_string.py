"""Query strings: read, and rewritten with every other byte unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.parameters.query_string import Query, unsafe_query
from engine.values.errors import Malformed
from tests.support.each import each
from tests.support.loop_turns import loop_turns

RAW = "a=1&&b=%20x&%61=2&c&d=é+"


def test_query_names_are_decoded_and_counted():
    assert Query.parse("a+b=1&%63&a+b=2&&=x").names() == ["a b", "c", "a b", ""]


def test_query_items_are_decoded():
    assert Query.parse("a+b=1%20&c&c=+").items() == [("a b", "1 "), ("c", ""), ("c", " ")]


@each(("name", "value"), [("a", "1"), ("b", " x"), ("c", ""), ("x", None), ("", None)])
def test_query_get(name, value):
    assert Query.parse("a=1&b=+x&a=2&c&").get(name) == value


@each(
    ("names", "shorter"),
    [
        ([], RAW),
        (["x"], RAW),
        (["a"], "&b=%20x&c&d=é+"),
        (["a", "b", "c", "d"], ""),
        (["d"], "a=1&&b=%20x&%61=2&c"),
    ],
)
def test_query_without(names, shorter):
    query = Query.parse(RAW.encode().decode("latin-1"))
    assert query.without(names).encode("latin-1").decode() == shorter


@each(
    ("raw", "name", "changed"),
    [
        ("a=1&b=2", "a", "a=%C3%A9%20%26&b=2"),
        ("b=2&%61=1&c=%2f", "a", "b=2&%61=%C3%A9%20%26&c=%2f"),
        ("a=1&b&a=2", "a", "a=%C3%A9%20%26&b"),
        ("b", "a b", "b&a%20b=%C3%A9%20%26"),
        ("", "a", "a=%C3%A9%20%26"),
    ],
)
def test_query_replace(raw, name, changed):
    assert Query.parse(raw).replace(name, "é &") == changed


@each("raw", ["%=1", "a&%ff=1"])
def test_query_refuses_names_it_cannot_decode(raw):
    with pytest.raises(Malformed, match=r"^query string: "):
        Query.parse(raw)


@given(
    st.text(st.sampled_from("ab=&%61+"), max_size=30), st.sets(st.sampled_from("ab"), max_size=2)
)
def test_without_leaves_the_others(raw, removed):
    try:
        query = Query.parse(raw)
    except Malformed:
        return
    shorter = Query.parse(query.without(removed))
    assert shorter.pairs == [pair for pair in query.pairs if pair[0] not in removed]


@each(
    ("raw", "problem"),
    [
        ("a=1&b=%20", None),
        ("a=#", "it has a '#'"),
        ("a=%2", "the % at character 3 is not followed by two hex digits"),
        ("a=%ff", "not valid UTF-8"),
        ("a=\xff", "not valid UTF-8"),
    ],
)
def test_a_query_string_that_no_upstream_should_see_has_a_problem(raw, problem):
    assert unsafe_query(raw) == (problem and f"the query string: {problem}")


def test_the_loop_turns_between_names_that_are_many():
    assert loop_turns(lambda: Query.parse("a=1&" * 5_000)) >= 5_000
    assert loop_turns(lambda: Query.parse(RAW)) <= 1
