"""The parts of documents that schemas refer to."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from engine.spec.document.node import Library
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.json_schema_files import Purpose, json_schema_files
from engine.spec.schemas.schema_parts import SchemaParts
from tests.support.documents import HERE, document, library
from tests.support.each import each

A, B = "#/components/schemas/A", "#/components/schemas/B"


def files(root: Any, **more: Any) -> Library:
    """A document with the schema `Root`, others beside it, and in `x-more` what is in none."""
    schemas = {"Root": root, **{name: more.pop(name) for name in [*more] if name != "extra"}}
    return library(document(components={"schemas": schemas}, **{"x-more": more.get("extra")}))


def paths(root: Any, **more: Any) -> list[str]:
    """The paths of the parts that `Root` refers to."""
    of = files(root, **more)
    parts = SchemaParts(json_schema_files(of, Purpose.REQUEST))
    _, found = parts.of(HERE.as_uri(), ("components", "schemas", "Root"))
    return sorted("/".join(map(str, part.path)) for part in found)


def accepts(value: Any, root: Any, **more: Any) -> bool:
    """Whether `Root` accepts a value."""
    of = files(root, **more)
    node = of.document.get("components").get("schemas").step("Root")
    return Schemas(of).validator(node).is_valid(value)


def test_a_schema_without_references_needs_no_part() -> None:
    assert paths({"type": "string"}, A={}) == []


def test_all_that_is_referred_to_is_a_part() -> None:
    root = {"properties": {"a": {"$ref": A}}}
    schemas = {"A": {"items": {"$ref": B}}, "B": {"minimum": 1}, "C": {"maximum": 1}}
    assert paths(root, **schemas) == ["components/schemas/A", "components/schemas/B"]
    assert accepts({"a": [1]}, root, **schemas)
    assert not accepts({"a": [0]}, root, **schemas)


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "additionalProperties": {"$ref": A}}
    assert paths({"$ref": A}, A=tree) == ["components/schemas/A"]
    assert accepts({"x": {"y": {}}}, {"$ref": A}, A=tree)
    assert not accepts({"x": {"y": 1}}, {"$ref": A}, A=tree)


def test_a_reference_may_lead_into_another_part() -> None:
    root = {"allOf": [{"$ref": f"{A}/properties/x"}, {"$ref": A}]}
    schema = {"properties": {"x": {"minProperties": 1}}}
    assert not accepts({}, root, A=schema)
    assert not accepts({"x": {}}, root, A=schema)
    assert accepts({"x": {"y": 1}}, root, A=schema)


def test_references_may_lead_to_a_part_and_through_a_list_of_it() -> None:
    root = {"allOf": [{"$ref": A}, {"$ref": f"{A}/anyOf/1"}]}
    schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert accepts(1, root, A=schema)
    assert not accepts("x", root, A=schema)


def test_a_reference_may_lead_through_a_list() -> None:
    root = {"$ref": f"{A}/anyOf/1"}
    schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert accepts(1, root, A=schema)
    assert not accepts("x", root, A=schema)


@each("key", ["a/b", "a~b", "{id}", "a b", "é", "%41", "a#b", "a?b"])
def test_a_reference_may_lead_to_any_key(key: str) -> None:
    root = {"$ref": "#/components/schemas/" + quote(key.replace("~", "~0").replace("/", "~1"))}
    assert accepts("x", root, **{key: {"type": "string"}})
    assert not accepts(1, root, **{key: {"type": "string"}})


@each("reference", ["#/nothing/here", "%00", "file://x", "https://example.com/%00#/a"])
def test_a_reference_in_an_example_without_a_target_does_no_harm(reference: str) -> None:
    assert accepts(1, {"type": "integer", "default": {"$ref": reference}})


def test_a_reference_may_lead_to_the_complete_file() -> None:
    root = {"properties": {"x": {"$ref": "#/x-more"}, "y": {"$ref": "#"}}}
    assert "" in paths(root, extra={"type": "string"})
    assert accepts({"x": "a", "y": 1}, root, extra={"type": "string"})
    assert not accepts({"x": 1}, root, extra={"type": "string"})
