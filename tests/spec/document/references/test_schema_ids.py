"""Names of schemas: references by `$id`, `$anchor` and `$dynamicAnchor` lead to their targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import accepts, read_with_schema

INTEGER = {"type": "integer"}
ID = "https://example.com/schemas/order"
URN = "urn:uuid:deadbeef-1234-0000-0000-4321feebdaed"


@pytest.mark.parametrize(
    ("ref", "schemas"),
    [
        ("#size", {"Size": {"$anchor": "size", **INTEGER}}),
        ("#size", {"Size": {"$dynamicAnchor": "size", **INTEGER}}),
        ("size", {"Size": {"$id": "size", **INTEGER}}),
        (ID, {"Size": {"$id": ID, **INTEGER}}),
        (f"{ID}#size", {"Order": {"$id": ID, "$defs": {"S": {"$anchor": "size", **INTEGER}}}}),
        (f"{ID}#/$defs/S", {"Order": {"$id": ID, "$defs": {"S": INTEGER}}}),
        (URN, {"Size": {"$id": URN, **INTEGER}}),
        (f"{URN}#/$defs/S", {"Order": {"$id": URN, "$defs": {"S": INTEGER}}}),
        (f"{URN}#size", {"Order": {"$id": URN, "$defs": {"S": {"$anchor": "size", **INTEGER}}}}),
        (
            ID,
            {
                "Order": {"$id": ID, "$ref": "size"},
                "Size": {"$id": "https://example.com/schemas/size", **INTEGER},
            },
        ),
        (ID, {"Order": {"$id": ID, "$ref": "#/$defs/S", "$defs": {"S": INTEGER}}}),
        (
            "#/components/schemas/A",
            {"A": {"$id": ID, "$ref": "#/$defs/S", "$defs": {"S": INTEGER}}},
        ),
    ],
)
def test_a_reference_by_name_leads_to_its_target(
    tmp_path: Path, ref: str, schemas: dict[str, Any]
) -> None:
    specification, warnings = read_with_schema(tmp_path, {"$ref": ref}, **schemas)
    assert warnings == []
    assert accepts(specification, 5)
    assert not accepts(specification, "no number")


def test_a_reference_by_id_of_draft_4_leads_to_its_target(tmp_path: Path) -> None:
    size = {"id": "https://example.com/size", **INTEGER}
    order = {"id": "https://example.com/order", "allOf": [{"$ref": "size"}, {"$ref": "#small"}]}
    order["definitions"] = {"Small": {"id": "#small", "maximum": 9}}
    schemas = {"Size": size, "Order": order}
    specification, warnings = read_with_schema(
        tmp_path, {"$ref": order["id"]}, version="3.0.3", **schemas
    )
    assert warnings == []
    assert accepts(specification, 5)
    assert not accepts(specification, 50)
    assert not accepts(specification, "5")


def test_a_pointer_from_the_document_below_an_id_is_read_as_it_is_meant(tmp_path: Path) -> None:
    """By the standard `#` is the schema with the `$id`; vendors mean the document."""
    order = {"$id": ID, "properties": {"size": {"$ref": "#/components/schemas/Size"}}}
    specification, warnings = read_with_schema(tmp_path, {"$ref": ID}, Order=order, Size=INTEGER)
    assert warnings == []
    assert not accepts(specification, {"size": "large"})


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_properties_and_examples_with_these_names_are_no_names(
    tmp_path: Path, version: str
) -> None:
    names = {"$id": {"type": "string"}, "id": {"type": "string"}, "$anchor": {"type": "string"}}
    example = {"id": "a", "$id": "b", "$anchor": "c"}
    schema = {"type": "object", "properties": names, "required": [*names], "example": example}
    specification, warnings = read_with_schema(tmp_path, schema, version=version)
    assert warnings == []
    assert accepts(specification, example)
    assert not accepts(specification, {})


def test_names_are_found_in_files_that_are_opened(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(
        json.dumps({"$id": ID, "$defs": {"S": {"$anchor": "size", **INTEGER}}})
    )
    (tmp_path / "other.json").write_text(json.dumps({"allOf": [{"$ref": f"{ID}#size"}]}))
    both = {"allOf": [{"$ref": "other.json"}, {"$ref": "shop.json#size"}]}
    specification, warnings = read_with_schema(tmp_path, both)
    assert warnings == []
    assert not accepts(specification, "large")


@pytest.mark.parametrize("ref", ["#nowhere", "urn:example:nowhere", "https://example.com/x"])
def test_a_reference_to_no_name_is_left_out_with_a_warning(tmp_path: Path, ref: str) -> None:
    named = {"$anchor": "size", **INTEGER}
    specification, warnings = read_with_schema(tmp_path, {"$ref": ref}, Size=named)
    assert len(warnings) == 1
    assert accepts(specification, "anything")
