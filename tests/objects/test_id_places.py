"""Places of ids: how they are written, and which values they have."""

import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.objects.id_places import REQUEST, RESPONSE, BadPlace, find, read_place
from tests.support.each import each


@each(
    ("text", "location", "steps"),
    [
        ("path.file_id", "path", ("file_id",)),
        ("query.after", "query", ("after",)),
        ("header.x-file", "header", ("x-file",)),
        ("body#/a/*/b~1c", "body", ("a", "*", "b/c")),
    ],
)
def test_a_place_of_a_request(text, location, steps):
    place = read_place("file", text, REQUEST)
    assert (place.location, place.steps, place.kind) == (location, steps, "file")


@each(
    ("value", "words"),
    [
        (7, "a place is a text"),
        ("body.id", "is not a place"),
        ("event#/id", "cannot be here"),
        ({"at": "body#/id", "befor": "x"}, "'befor' is not known"),
        ({"at": "body#/id", "address": True}, "needs 'after'"),
        ({"at": "body#/id", "pass": "auto"}, "'pass' is a list"),
        ({"at": "body#/id", "prefix": 1}, "'prefix' is a text"),
        ({"at": "query.id", "bearer": 1}, "'bearer' is true or false"),
    ],
)
def test_a_place_that_cannot_be_read_says_why(value, words):
    with pytest.raises(BadPlace, match=words):
        read_place("file", value, REQUEST)


def test_responses_have_events_and_lines():
    assert read_place("file", "event#/file/id", RESPONSE).location == "event"
    assert read_place("file", "lines#/id", RESPONSE).location == "lines"


BODY = {"a": [{"b": "1"}, {"b": "2", "c": {"b": "3"}}], "b": "4"}


@each(
    ("steps", "paths"),
    [
        (("b",), {("b",)}),
        (("a", "*", "b"), {("a", 0, "b"), ("a", 1, "b")}),
        (("a", "1", "b"), {("a", 1, "b")}),
        (("**", "b"), {("b",), ("a", 0, "b"), ("a", 1, "b"), ("a", 1, "c", "b")}),
        (("a", "b"), set()),
        (("x", "*"), set()),
        (("a", "**", "c", "*"), set()),
        (("**", "a", "*"), {("a", 0), ("a", 1)}),
    ],
)
def test_a_place_has_every_value_that_it_names(steps, paths):
    found = find(BODY, steps)
    assert set(found) == paths
    assert len(found) == len(paths)


def test_both_spellings_of_a_member_are_found():
    body = {"file_data": {"file_uri": "x"}, "fileData": {"fileUri": "y"}}
    assert set(find(body, ("fileData", "fileUri"), json_name)) == {
        ("file_data", "file_uri"),
        ("fileData", "fileUri"),
    }


def test_deep_values_need_no_deep_stack():
    body = deep = {}
    for _ in range(5_000):
        deep["a"] = {}
        deep = deep["a"]
    deep["id"] = "x"
    assert len(find(body, ("**", "id"))) == 1


@each(
    ("options", "value", "parts"),
    [
        ({}, "file-1", ("", "file-1", "")),
        ({}, "", None),
        ({"pass": ["auto"]}, "auto", None),
        (
            {"after": "files/"},
            "https://v.example/files/abc?x=1",
            ("https://v.example/files/", "abc", "?x=1"),
        ),
        (
            {"after": "batches/"},
            "https://v.example/batches/b_1/results",
            ("https://v.example/batches/", "b_1", "/results"),
        ),
        ({"after": "files/"}, "https://v.example/other", None),
        ({"after": "files/", "hosts": ["v.example"]}, "https://w.example/files/abc", None),
        ({"after": "files/", "hosts": ["*v.example"]}, "https://w.example/files/abc", None),
        (
            {"after": "files/", "hosts": ["x", "*-v.*.example"]},
            "https://eu-v.a.example./files/abc",
            ("https://eu-v.a.example./files/", "abc", ""),
        ),
        ({"after": "files/", "hosts": ["v.example"]}, "files/abc", ("files/", "abc", "")),
        ({"after": "files/", "hosts": ["v.example"]}, "//[/files/a", ("//[/files/", "a", "")),
        (
            {"after": "files/", "hosts": ["v.example"]},
            "https://V.example.:443/%66iles/a%62c",
            ("https://V.example.:443/files/", "abc", ""),
        ),
        (
            {"after": "files/", "hosts": ["v.example"]},
            "https://V.example/files/abc",
            ("https://V.example/files/", "abc", ""),
        ),
    ],
)
def test_an_id_is_split_from_its_value(options, value, parts):
    assert read_place("file", {"at": "body#/x", **options}, REQUEST).split(value) == parts


def test_a_prefix_may_have_variables_of_the_path():
    place = read_place(
        "operation", {"at": "path.op", "prefix": "models/{model}/operations/"}, REQUEST
    )
    assert place.full_prefix({"model": "veo"}.__getitem__) == "models/veo/operations/"


def test_nobody_bears_an_id_of_a_response():
    with pytest.raises(BadPlace, match="at a place of requests"):
        read_place("file", {"at": "body#/id", "bearer": True}, RESPONSE)


def test_an_id_in_the_query_of_a_url_ends_with_its_parameter():
    place = read_place("upload", {"at": "header.x-url", "after": "upload_id="}, RESPONSE)
    url = "https://a.example/upload?upload_id=abc&upload_protocol=resumable"
    assert place.split(url) == (
        "https://a.example/upload?upload_id=",
        "abc",
        "&upload_protocol=resumable",
    )
