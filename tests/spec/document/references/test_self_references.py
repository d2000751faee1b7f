"""Schemas that apply to one value for ever are found, named at their place, and cut there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Level
from engine.values.errors import GatewayError
from tests.support import documents
from tests.support.documents import document
from tests.support.each import each

A = {"$ref": "#/components/schemas/A"}
B = {"$ref": "#/components/schemas/B"}
CODE = "MW213"


def ring(schemas: dict[str, Any], version: str = "3.1.0") -> dict[str, Any]:
    """A document with an operation that takes A, and another that takes nothing."""
    operation = {
        "operationId": "a",
        "requestBody": {"content": {"application/json": {"schema": A}}},
    }
    paths = {"/a": {"post": operation}, "/b": {"get": documents.get("b")}}
    return document(version=version, paths=paths, components={"schemas": schemas})


LOOPS: dict[str, dict[str, Any]] = {
    "allOf": {"A": {"allOf": [A]}},
    "allOf beside others": {"A": {"allOf": [{"type": "object"}, A]}},
    "anyOf": {"A": {"anyOf": [{"type": "string"}, A]}},
    "oneOf": {"A": {"oneOf": [A, {"type": "string"}]}},
    "not": {"A": {"not": A}},
    "not not": {"A": {"not": {"not": A}}},
    "two schemas": {"A": {"allOf": [B]}, "B": {"anyOf": [A]}},
    "through a reference": {"A": {"allOf": [B]}, "B": A},
    "deep": {"A": {"allOf": [{"anyOf": [{"oneOf": [{"not": {"allOf": [A]}}]}]}]}},
}
LOOPS_OF_31: dict[str, dict[str, Any]] = {
    "if": {"A": {"if": A, "then": {"type": "object"}}},
    "then": {"A": {"if": {"type": "string"}, "then": A}},
    "else": {"A": {"if": {"type": "string"}, "else": A}},
    "dependentSchemas": {"A": {"dependentSchemas": {"x": A}}},
    "beside a reference": {"A": {**B, "allOf": [A]}, "B": {"type": "object"}},
    "a dynamic name": {"A": {"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}},
    "a dynamic pointer": {"A": {"allOf": [{"$dynamicRef": A["$ref"]}]}},
    "an older keyword": {"A": {"$recursiveAnchor": True, "allOf": [{"$recursiveRef": "#"}]}},
}
RECURSIVE: dict[str, dict[str, Any]] = {
    "properties": {"A": {"allOf": [{"properties": {"a": A}}]}},
    "items": {"A": {"anyOf": [{"type": "string"}, {"type": "array", "items": A}]}},
    "additionalProperties": {"A": {"additionalProperties": A}},
    "twice the same": {"A": {"allOf": [B, B]}, "B": {"type": "object"}},
    "a property of this name": {"A": {"properties": {"$ref": {"type": "string"}, "allOf": A}}},
    "in an example": {"A": {"type": "object", "example": {"allOf": [A]}}},
}


@each("name", [*LOOPS, *LOOPS_OF_31])
@each("version", ["3.0.3", "3.1.0"])
def test_a_schema_that_refers_to_itself_has_a_code_and_its_operation_is_served(
    tmp_path: Path, name: str, version: str
) -> None:
    if version == "3.0.3" and name in LOOPS_OF_31:
        return
    schemas = {**LOOPS, **LOOPS_OF_31}[name]
    specification, problems = documents.read(tmp_path, ring(schemas, version))
    assert specification is not None, problems
    assert (set(specification.operations), set(specification.refusals)) == ({"a", "b"}, set())
    (problem,) = [problem for problem in problems if problem.code == CODE]
    assert problem.level is Level.WARNING
    assert problem.hint


@each("name", list(RECURSIVE))
def test_a_recursive_schema_is_served(tmp_path: Path, name: str) -> None:
    specification, problems = documents.read(tmp_path, ring(RECURSIVE[name]))
    assert specification is not None
    assert CODE not in {problem.code for problem in problems}
    assert set(specification.operations) == {"a", "b"}


def test_the_place_is_that_of_the_reference(tmp_path: Path) -> None:
    text = json.dumps(ring({"A": {"allOf": [{"type": "object"}, A]}}), indent=1)
    _, problems = documents.read(tmp_path, text)
    (problem,) = [problem for problem in problems if problem.code == CODE]
    lines = text.splitlines()
    assert lines[problem.line - 1].strip() == '"$ref": "#/components/schemas/A"'
    assert "object" in lines[problem.line - 4]


def test_files_in_a_circle_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("B: {anyOf: [{$ref: 'api.yaml#/components/schemas/A'}]}\n")
    looped = ring({"A": {"allOf": [{"$ref": "other.yaml#/B"}]}})
    specification, problems = documents.read(tmp_path, looped)
    assert specification is not None
    assert CODE in {problem.code for problem in problems}
    assert set(specification.operations) == {"a", "b"}


def test_a_chain_of_thousands_of_schemas_is_walked(tmp_path: Path) -> None:
    last = 5_000
    schemas: dict[str, Any] = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}]} for n in range(last)
    }
    schemas |= {"A": {"$ref": "#/components/schemas/S0"}, f"S{last}": {"allOf": [A]}}
    _, problems = documents.read(tmp_path, ring(schemas))
    assert [problem.code for problem in problems].count(CODE) == 1


def test_a_schema_of_responses_alone_leaves_its_operation(tmp_path: Path) -> None:
    described = ring({"A": {"allOf": [A]}})
    del described["paths"]["/a"]["post"]["requestBody"]
    answer = {"description": "ok", "content": {"application/json": {"schema": A}}}
    described["paths"]["/a"]["post"]["responses"] = {"200": answer}
    specification, problems = documents.read(tmp_path, described)
    assert specification is not None
    assert CODE in {problem.code for problem in problems}
    assert set(specification.operations) == {"a", "b"}


@each(
    ("schema", "accepted", "refused"),
    [
        ({"anyOf": [{"type": "string"}, A]}, ["x"], [5]),
        ({"oneOf": [A, {"type": "string"}]}, ["x"], [5]),
        ({"allOf": [{"type": "string"}, A]}, ["x"], [5]),
        ({"anyOf": [A], "type": "string"}, ["x"], [5]),
        ({"not": A, "type": "string"}, ["x"], [5]),
    ],
)
@each("version", ["3.0.3", "3.1.0"])
def test_what_is_beside_the_reference_still_counts(
    tmp_path: Path, version: str, schema: dict[str, Any], accepted: list[Any], refused: list[Any]
) -> None:
    specification, problems = documents.read(tmp_path, ring({"A": schema}, version))
    assert specification is not None, problems
    for value in accepted:
        documents.ask(specification.operations["a"], value)
    for value in refused:
        with pytest.raises(GatewayError):
            documents.ask(specification.operations["a"], value)
