"""Places in JSON of other forms than the declared one."""

from engine.dialects.gemini.proto_json import json_name
from engine.objects.id_places import REQUEST, read_place
from engine.objects.loose_places import find_loosely, hides_ids, member_of
from tests.support.each import each


@each(
    ("value", "steps", "paths"),
    [
        ({"A": {"b": 1, "B": 2}}, ("a", "b"), {("A", "b"), ("A", "B")}),
        ({"a": [{"b": 1}]}, ("a", "b"), {("a", 0, "b")}),
        ({"a": {"b": 1}}, ("a", "*", "b"), {("a", "b")}),
        ({"a": {"x": {"b": 1}}}, ("a", "*", "b"), {("a", "x", "b")}),
        ({"a": "1"}, ("a", "*"), {("a",)}),
        (
            {"x": [{"a": ["1"]}, {"a": {"type": "array"}}]},
            ("**", "a", "*"),
            {("x", 0, "a", 0), ("x", 1, "a")},
        ),
        ({"a": [1, 2]}, ("a", "1"), {("a", 0), ("a", 1)}),
        ({"ab": 1}, ("a", "b"), set()),
    ],
)
def test_what_a_lenient_server_reads_at_a_place(value, steps, paths):
    assert set(find_loosely(value, steps)) == paths


def test_either_spelling_in_any_capitals():
    value = {"FileData": {"file_URI": 1}, "file_data": {"fileuri": 2}}
    paths = {("FileData", "file_URI"), ("file_data", "fileuri")}
    assert set(find_loosely(value, ("fileData", "fileUri"), json_name)) == paths


def test_deep_lists_take_as_many_steps_as_they_have_items():
    value = "x"
    for _ in range(200):
        value = [value]
    assert find_loosely(value, ("**", "a", "*", "b", "**", "c")) == []


PLAIN, EITHER, INSIDE, LIST, DEEP = PLACES = [
    read_place("file", text, REQUEST)
    for text in ("body#/a", "body#/b", "body#/b/id", "body#/c/*", "body#/**/d")
]
LISTED = read_place("file", "body#/c", REQUEST)


@each(
    ("value", "place", "hides"),
    [
        (7, PLAIN, True),
        (True, PLAIN, False),
        ("x", PLAIN, False),
        (None, PLAIN, False),
        ([], PLAIN, False),
        (["x"], PLAIN, True),
        ({"x": "y"}, PLAIN, True),
        ({"x": "y"}, EITHER, False),
        (["x"], EITHER, True),
        (["x"], LISTED, False),
        ({"type": "string"}, DEEP, False),
        (["x"], DEEP, True),
    ],
)
def test_what_may_hide_ids(value, place, hides):
    assert hides_ids(value, place, [*PLACES, LISTED]) is hides


@each(
    ("path", "steps", "member"),
    [
        (("a", 0, "b"), ("a", "*", "b"), ("a", 0, "b")),
        (("a", 3), ("a", "*"), ("a",)),
        (("a", 3, "x"), ("a", "*", "*"), ("a",)),
        (("a", 1), ("a", "1"), ("a",)),
        (("a", "x"), ("a", "**"), None),
    ],
)
def test_the_member_that_has_the_name_of_a_place(path, steps, member):
    assert member_of(path, steps) == member
