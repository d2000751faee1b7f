"""Places in bodies: names, pointers and queries."""

import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.transforms.places import ANY, ANY_DEPTH, TooDeep, parse_place

VALUE = {"a": {"b": [{"c": 1}, {"c": 2, "d": None}]}, "/x": 1, "e": "text"}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b", ("a.b",)),
        ("/a/b~1c~0d", ("a", "b/c~d")),
        ("/", ("",)),
        ("$.a['b'][0]", ("a", "b", "0")),
        ("$.a[*].b", ("a", ANY, "b")),
        ("$..a", (ANY_DEPTH, "a")),
        ("$.a[-1]", ("a", ANY)),
        ("$.a[?@.b == 1, 2]", ("a", ANY)),
    ],
)
def test_a_place_has_steps(text, steps):
    assert parse_place(text).steps == steps


@pytest.mark.parametrize("text", ["$", "$.", "$.a | $.b", "/a~2", "$[?"])
def test_a_text_that_is_no_place(text):
    with pytest.raises(ValueError, match=r"is not a JSON|whole body"):
        parse_place(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", [("a",)]),
        ("/a/b/1/c", [("a", "b", 1, "c")]),
        ("/a/b/2", []),
        ("/a/b/01", []),
        ("/a/b/x", []),
        ("/e/x", []),
        ("/~1x", [("/x",)]),
        ("/a/b/1/d", [("a", "b", 1, "d")]),
        ("/a/b/1/d/x", []),
        ("$.a.b[*].c", [("a", "b", 0, "c"), ("a", "b", 1, "c")]),
        ("$..c", [("a", "b", 0, "c"), ("a", "b", 1, "c")]),
        ("$.a.b[-1]", [("a", "b", 1)]),
        ("$.*", [("a",), ("/x",), ("e",)]),
        ("$..*", [("a",), ("/x",), ("e",)]),
    ],
)
def test_what_is_there_is_found_and_nothing_below_it(text, found):
    assert parse_place(text).find(VALUE) == found


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/a/new/x", ("a", "new", "x")),
        ("/a/b/1/new", ("a", "b", 1, "new")),
        ("/a/b/9/new", None),
        ("/e/new", None),
    ],
)
def test_the_path_of_what_is_missing(text, path):
    assert parse_place(text).path(VALUE) == path


def test_a_value_that_is_nested_too_deeply_raises():
    value = {}
    for _ in range(500):
        value = {"a": value}
    with pytest.raises(TooDeep):
        parse_place("$..b").find(value)


@pytest.mark.parametrize(
    ("text", "value", "paths"),
    [
        ("gen_config", {"genConfig": 1}, [("genConfig",)]),
        ("genConfig", {"gen_config": 1}, [("gen_config",)]),
        ("/gen_config/top_k", {"genConfig": {"topK": 1}}, [("genConfig", "topK")]),
        ("top_k", {"top_k": 1, "topK": 2}, [("top_k",)]),
        ("top_k", {"other": 1}, []),
        (
            "$.a[*].in_data",
            {"a": [{"inData": 1}, {"in_data": 2}]},
            [("a", 0, "inData"), ("a", 1, "in_data")],
        ),
    ],
)
def test_a_place_is_found_in_both_spellings_of_an_api_that_has_two(text, value, paths):
    place = parse_place(text).with_names(json_name)
    assert sorted(place.find(value)) == sorted(paths)


def test_a_missing_place_is_created_as_it_is_written():
    place = parse_place("/gen_config/top_k").with_names(json_name)
    assert place.path({"genConfig": {}}) == ("genConfig", "top_k")
    assert place.path({}) == ("gen_config", "top_k")
