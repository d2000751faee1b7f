"""A compiled transform as a value."""

import pytest

from engine.config.transforms import TransformConfig
from engine.source.problem import Findings
from engine.spec.spec import read
from engine.transforms.compile import compile_all
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.transform import (
    RequestEdits,
    Transform,
    body_schemas,
    for_operation,
    has_unknown_body,
)


def test_the_place_of_a_transform_is_a_text():
    assert Transform(("policies", 0, "transform")).place == "policies.0.transform"


def test_edits_are_empty_without_any():
    assert not RequestEdits()
    assert RequestEdits(HeaderEdits(remove=frozenset({"x-a"})))


DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /described:
    post:
      operationId: described
      requestBody: {content: {application/json: {schema: {properties: {a: {}, b: {}, c: {}}}}}}
      responses: {}
  /free:
    post: {operationId: free, requestBody: {content: {application/json: {}}}, responses: {}}
    get: {operationId: bodiless, responses: {}}
  /raw:
    post:
      operationId: raw
      requestBody: {content: {application/octet-stream: {}}}
      responses: {}
"""
EDITS = {
    "remove": ["a", "x", "$..y"],
    "rename": {"b": "c", "r": "x"},
    "default": {"q": 1, "/w/below": 1},
    "set": {"/b/d": 1},
    "append": {"l": [1]},
}


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "shop.yaml"
    file.write_text(DOCUMENT)
    return read("shop", file, "shop.yaml", (), Findings())


def edits_for(spec, name):
    (transform,) = compile_all([TransformConfig({"request": {"body": EDITS}}, ())], upstream=False)
    node = spec.node(spec.operations[name])
    body = for_operation(transform, node).request.body
    return {
        "remove": [place.text for place in body.remove],
        "rename": [old.text for old, _ in body.rename],
        "default": [place.text for place, _ in body.default],
        "set": [place.text for place, _ in body.set],
        "append": [place.text for place, _ in body.append],
    }


def test_places_that_the_document_does_not_have_are_left_out(spec):
    assert edits_for(spec, "described") == {
        "remove": ["a", "$..y"],
        "rename": ["b"],
        "default": [],
        "set": ["/b/d"],
        "append": [],
    }


def test_a_body_without_a_schema_may_have_every_place(spec):
    assert edits_for(spec, "free")["remove"] == ["a", "x", "$..y"]
    assert body_schemas(spec.node(spec.operations["free"])) == []


def test_an_operation_without_a_body_has_no_place(spec):
    assert not any(edits_for(spec, "bodiless").values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("described", False), ("free", True), ("bodiless", False), ("raw", False)],
)
def test_a_body_that_can_be_edited_may_have_no_schema(spec, name, expected):
    assert has_unknown_body(spec.node(spec.operations[name])) is expected
