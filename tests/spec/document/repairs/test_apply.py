"""All repairs of a document, in their order."""

from __future__ import annotations

from tests.support.documents import repaired


def test_constraints_are_repaired_before_null_moves_them_into_a_branch() -> None:
    schema = {
        "nullable": True,
        "allOf": [{"type": "array"}],
        "required": ["a", "a"],
        "exclusiveMinimum": True,
        "minimum": 1,
    }
    inner = {"allOf": [{"type": "array"}], "required": ["a"], "exclusiveMinimum": 1}
    result, codes = repaired(schema)
    assert result == {"anyOf": [inner, {"type": "null"}]}
    assert sorted(codes) == ["MW221", "MW223", "MW224"]


def test_every_reference_to_an_anchor_is_repaired_before_the_anchor_is_removed() -> None:
    schema = {
        "$recursiveAnchor": True,
        "properties": {"a": {"$recursiveRef": "#"}, "b": {"items": {"$recursiveRef": "#"}}},
    }
    reference = {"$ref": "#/components/schemas/Root"}
    result, codes = repaired(schema)
    assert result == {"properties": {"a": reference, "b": {"items": reference}}}
    assert codes


def test_a_document_without_breaches_is_unchanged() -> None:
    schema = {"type": "object", "properties": {"nullable": {"type": "string"}}}
    assert repaired(schema) == (schema, [])
