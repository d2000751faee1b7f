"""Discriminators that cannot choose, or not for all values of their schemas."""

from __future__ import annotations

from typing import Any

from engine.source.problem import Findings
from engine.spec.load import repair
from tests.support.documents import document, library, repaired
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


@each(
    ("default", "left", "message"),
    [
        ("Cat", "Cat", ""),
        ("#/components/schemas/Dog", "#/components/schemas/Dog", "its default decides"),
        ("Cow", None, "there is no schema 'Cow'"),
        (5, None, "there is no schema '5'"),
    ],
)
def test_a_default_takes_what_is_not_mapped(default: Any, left: Any, message: str) -> None:
    schema = {"oneOf": [REF], "discriminator": {"propertyName": "kind", "defaultMapping": default}}
    schemas = {"Root": schema, "Cat": CAT, "Dog": {}}
    files = library(document(version="3.2.0", components={"schemas": schemas}))
    findings = Findings()
    repair(files, findings)
    root = files.document.value["components"]["schemas"]["Root"]
    assert root["discriminator"].get("defaultMapping") == left
    assert message in " ".join(map(str, findings.problems))
    assert bool(message) == bool(findings.problems)
