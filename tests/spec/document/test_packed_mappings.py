"""A packed document reads as the document, in less memory."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from engine.spec.document.packed_mappings import (
    Packed,
    has_any_key,
    joined,
    packed,
    parsed_once,
    separated,
    unpacked,
)

DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {"/a": {"get": {"responses": {"200": {"description": "ä \ud800"}}}}, "/b": {}},
    "webhooks": {"new": {"post": {}}},
    "components": {"schemas": {"A": {"minimum": 10**30}, "B": True}, "x-note": "text"},
    "servers": [{"url": "/v1"}],
}


def test_it_reads_as_the_document():
    value = packed(DOCUMENT)
    assert json.loads(json.dumps(value)) == DOCUMENT
    paths = value["paths"]
    assert isinstance(paths, Packed)
    assert dict(paths) == {**paths} == dict(paths.items()) == DOCUMENT["paths"]
    assert list(paths.values()) == list(DOCUMENT["paths"].values())
    assert paths.get("/a") == paths["/a"] == DOCUMENT["paths"]["/a"]
    assert paths.get("/c") is None
    assert "/b" in paths
    with pytest.raises(KeyError):
        paths["/c"]


def test_an_unpacked_document_is_plain():
    value = unpacked(packed(DOCUMENT))
    assert value == DOCUMENT
    parts = [value["paths"], value["webhooks"], value["components"]["schemas"]]
    assert [type(part) for part in parts] == [dict, dict, dict]


def test_packing_twice_changes_nothing():
    assert packed(packed(DOCUMENT)) == packed(DOCUMENT)


@pytest.mark.parametrize("value", [None, [], "text", {"paths": []}, {"components": None}])
def test_what_is_no_document_stays(value):
    assert packed(value) == value
    assert unpacked(value) == value


def test_it_takes_a_fraction_of_the_memory():
    text = json.dumps({"paths": {f"/{n}": {"get": {"responses": {}}} for n in range(1000)}})
    tracemalloc.start()
    try:
        value = json.loads(text)
        parsed = tracemalloc.get_traced_memory()[0]
        value = packed(value)
        assert tracemalloc.get_traced_memory()[0] < parsed / 3
    finally:
        tracemalloc.stop()
    assert len(value["paths"]) == 1000


@pytest.mark.parametrize("document", [DOCUMENT, dict(reversed(DOCUMENT.items())), [], {"paths": 1}])
def test_its_members_and_the_rest_are_stored_apart(document):
    rest, texts = separated(packed(document))
    again = joined(json.loads(json.dumps(rest)), texts)
    assert unpacked(again) == document
    assert list(again) == list(document)


def test_what_was_separated_needs_all_of_its_members():
    rest, texts = separated(packed(DOCUMENT))
    with pytest.raises(ValueError, match="zip"):
        joined(rest, texts[:-1])


def test_a_member_can_be_parsed_only_once():
    value = packed(DOCUMENT)
    assert value["paths"]["/a"] is not value["paths"]["/a"]
    once = parsed_once(value)
    assert once["paths"]["/a"] is once["paths"]["/a"]
    assert once["paths"].get("/a") is dict(once["paths"].items())["/a"]
    assert unpacked(once) == unpacked(parsed_once(once)) == DOCUMENT


@pytest.mark.parametrize("convert", [packed, lambda value: parsed_once(packed(value))])
@pytest.mark.parametrize("name", ["responses", "openapi", "minimum", "/"])
def test_keys_are_found_in_what_is_packed(convert, name):
    keys = (b'"none":', f'"{name}":'.encode())
    assert has_any_key(convert(DOCUMENT), keys) is (name != "/")
