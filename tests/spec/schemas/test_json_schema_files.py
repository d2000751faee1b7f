"""Schemas as plain JSON Schema, part by part."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.document import discriminators
from engine.spec.schemas.json_schema_files import NestedTooDeeply, Purpose, json_schema_files
from tests.support.documents import document, library
from tests.support.each import each

HIDDEN = {
    "type": "object",
    "required": ["id", "name", "later"],
    "properties": {
        "id": {"$ref": "#/components/schemas/Id"},
        "name": {"type": "string", "writeOnly": True},
        "n": {"type": "integer", "format": "int32"},
    },
}
CHOICE = {
    "discriminator": {"propertyName": "kind"},
    "oneOf": [{"$ref": "#/components/schemas/Id"}, {"$ref": "#/components/schemas/Hidden"}],
    "not": {"enum": ["a", "b"]},
}
CONTENT = {"application/json": {"schema": {"items": HIDDEN}, "example": {"format": "int32"}}}
OPERATION = {
    "parameters": [{"name": "q", "in": "query", "schema": {"type": "string", "nullable": True}}],
    "requestBody": {"content": CONTENT},
    "responses": {"default": {"description": "d", "content": CONTENT}},
}
DOCUMENT = document(
    openapi="3.0.3",
    paths={"/a": {"post": OPERATION}},
    components={
        "schemas": {"Id": {"type": "string", "readOnly": True}, "Hidden": HIDDEN, "Choice": CHOICE},
        "parameters": {"P": OPERATION["parameters"][0], "schema": {"in": "query", "name": "s"}},
        "examples": {"E": {"value": {"format": "int32", "schema": {"nullable": True}}}},
    },
)


def every_path(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a value."""
    members: Any = value.items() if isinstance(value, dict) else ()
    members = enumerate(value) if isinstance(value, list) else members
    return [path, *(each for key, child in members for each in every_path(child, (*path, key)))]


@each("purpose", [Purpose.REQUEST, Purpose.LENIENT, Purpose.RESPONSE])
@each("is_packed", [False, True])
def test_a_part_is_what_it_is_in_the_whole_file(purpose: Purpose, is_packed: bool) -> None:
    files = library(DOCUMENT)
    if is_packed:
        files.pack()
    for whole, parts in zip(
        json_schema_files(files, purpose).values(),
        json_schema_files(files, purpose).values(),
        strict=True,
    ):
        changed = False
        for path in every_path(whole.at(())):
            value = whole.at(())
            for step in path:
                value = value[step]
            assert parts.at(path) == value, path
            changed = changed or parts.at(path) != _at(DOCUMENT, path)
        assert changed


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    try:
        for step in path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return None
    return value


def test_what_is_not_asked_for_is_not_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    (plain,) = json_schema_files(library(DOCUMENT), Purpose.REQUEST).values()
    guarded: list[Any] = []

    def guard(_: object, copy: Any, **_more: object) -> None:
        guarded.append(copy)

    monkeypatch.setattr(discriminators, "guard", guard)
    body = ("paths", "/a", "post", "requestBody", "content", "application/json", "schema")
    assert plain.at((*body, "items"))["required"] == ["name", "later"]
    assert plain.at(body)["items"]["properties"]["n"]["allOf"]
    assert guarded == []
    for _ in range(2):
        plain.at(("components", "schemas", "Choice"))
        assert len(guarded) == 1


def test_what_is_removed_is_gone_from_every_part() -> None:
    (plain,) = json_schema_files(library(DOCUMENT), Purpose.REQUEST).values()
    schemas = ("components", "schemas")
    plain.remove((*schemas, "Choice", "oneOf", 0))
    assert len(plain.at((*schemas, "Choice"))["oneOf"]) == 1
    assert len(plain.at(())["components"]["schemas"]["Choice"]["oneOf"]) == 1
    plain.remove((*schemas, "Hidden"))
    with pytest.raises(KeyError):
        plain.at((*schemas, "Hidden", "properties"))
    assert "Hidden" not in plain.at(())["components"]["schemas"]


def test_what_is_nested_too_deeply_cannot_be_translated() -> None:
    schema: dict[str, Any] = {"nullable": True}
    for _ in range(600):
        schema = {"items": schema}
    value = document(openapi="3.0.3", components={"schemas": {"Deep": schema, "A": {}}})
    (plain,) = json_schema_files(library(value), Purpose.REQUEST).values()
    with pytest.raises(NestedTooDeeply):
        plain.at(("components", "schemas", "Deep"))
    assert plain.at(("components", "schemas", "A")) == {}
