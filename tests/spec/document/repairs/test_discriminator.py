"""A discriminator whose values are not the names of its schemas."""

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
        ("kind", CAT, []),
    ],
)
def test_a_value_that_is_not_mapped_is_noted(
    discriminator: Any, branch: Any, codes: list[str]
) -> None:
    for union in ("oneOf", "anyOf"):
        schema = {union: [REF], "discriminator": discriminator}
        assert repaired(schema, Cat=branch) == (schema, codes)
