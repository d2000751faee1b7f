"""Read-only members of a body are found wherever its schema marks them."""

from __future__ import annotations

from typing import Any

from engine.spec.schemas.member_finder import read_only_members
from tests.support.documents import document, library
from tests.support.each import each

ID = {"type": "string", "readOnly": True}
REF = {"$ref": "#/components/schemas/Id"}
LOOP = {"$ref": "#/components/schemas/Loop"}


@each(
    ("schema", "value", "paths"),
    [
        ({"properties": {"id": ID, "n": {}}}, {"id": 1, "n": 2}, [("id",)]),
        ({"properties": {"id": REF}}, {"id": 1}, [("id",)]),
        ({"properties": {"id": {"allOf": [REF, {"maxLength": 2}]}}}, {"id": 1}, [("id",)]),
        ({"allOf": [{"properties": {"id": ID}}, {"required": ["n"]}]}, {"id": 1}, [("id",)]),
        ({"items": {"properties": {"id": ID}}}, [{}, {"id": 1}], [(1, "id")]),
        ({"properties": {"a": {"items": {"properties": {"id": ID}}}}}, {"a": [{"id": 1}]}, None),
        ({"additionalProperties": {"properties": {"id": ID}}}, {"x": {"id": 1}}, [("x", "id")]),
        ({"oneOf": [{"properties": {"id": ID}}, {"properties": {"n": {}}}]}, {"id": 1}, [("id",)]),
        ({"oneOf": [{"properties": {"id": ID}}, {"properties": {"id": {}}}]}, {"id": 1}, []),
        ({"properties": {"id": {**ID, "readOnly": False}}}, {"id": 1}, []),
        (LOOP, {"next": {"next": {"id": 1}}, "id": 2}, [("id",), ("next", "next", "id")]),
        ({"properties": {"id": ID}}, 5, []),
        ({"properties": {"id": ID}}, {"id": {"id": 1}}, [("id",)]),
    ],
)
def test_they_are_found(schema: Any, value: Any, paths: Any) -> None:
    loop = {"properties": {"id": ID, "next": LOOP}}
    files = library(document(components={"schemas": {"Root": schema, "Id": ID, "Loop": loop}}))
    root = files.document.get("components").get("schemas").step("Root")
    members = read_only_members(root.value, root.follow)
    assert list(members.paths(value)) == ([("a", 0, "id")] if paths is None else paths)
