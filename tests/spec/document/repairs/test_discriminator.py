"""Discriminators that cannot choose, or not for all values of their schemas."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each

CAT = {"properties": {"kind": {"const": "cat"}}}
REF = {"$ref": "#/components/schemas/Cat"}


@each(
    ("discriminator", "branch", "codes"),
    [
        ({"propertyName": "kind"}, CAT, ["MW226"]),
        ({"propertyName": "kind"}, {"properties": {"kind": {"enum": ["cat", "lion"]}}}, ["MW226"]),
        ({"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}}, CAT, []),
        ({"propertyName": "kind"}, {"properties": {"kind": {"const": "Cat"}}}, []),
        ({"propertyName": "other"}, CAT, []),
    ],
)
def test_a_value_that_is_not_mapped_is_noted(
    discriminator: Any, branch: Any, codes: list[str]
) -> None:
    for union in ("oneOf", "anyOf"):
        schema = {union: [REF], "discriminator": discriminator}
        assert repaired(schema, Cat=branch) == (schema, codes)


@each(
    ("discriminator", "result"),
    [
        ("kind", None),
        ({}, None),
        ({"propertyName": 5}, None),
        ({"propertyName": "other", "mapping": []}, {"propertyName": "other"}),
        (
            {
                "propertyName": "other",
                "mapping": {"a": "Cat", "b": "Dog", "c": 5, "d": "x.yaml#/D"},
            },
            {"propertyName": "other", "mapping": {"a": "Cat"}},
        ),
    ],
)
def test_what_cannot_choose_is_left_out(discriminator: Any, result: Any) -> None:
    schema = {"oneOf": [REF], "discriminator": discriminator}
    left, codes = repaired(schema, Cat=CAT)
    assert left.get("discriminator") == result
    assert set(codes) == {"MW256"}
