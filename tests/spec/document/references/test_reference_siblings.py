"""Keywords beside the `$ref` of a schema count in 3.1, wherever it is, and are ignored in 3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Findings
from engine.spec import spec
from engine.spec.parameter import check_parameters
from engine.values.errors import GatewayError
from tests.support.documents import ask, document, exchange, form_data, get, read
from tests.support.each import each

A: dict[str, Any] = {"$ref": "#/components/schemas/A"}
SIBLINGS = {**A, "required": ["zz"]}
SCHEMAS = {
    "A": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "Sib": SIBLINGS,
    "Chain": {"$ref": "#/components/schemas/Sib", "description": "only a note"},
    "Str": {"type": "string"},
}
JSON = "application/json"


def content(schema: Any) -> dict[str, Any]:
    return {"content": {JSON: {"schema": schema}}}


def operation(folder: Path, operation: Any, version: str = "3.1.0", **components: Any) -> Any:
    value = document(
        version=version,
        paths={"/x": {"post": operation}},
        components={"schemas": SCHEMAS, **components},
    )
    specification, problems = read(folder, value)
    assert specification is not None, problems
    return specification.operations["x"], problems


@each(
    ("schema", "accepted", "refused"),
    [
        (SIBLINGS, {"zz": 1, "a": 1}, {"a": 1}),
        ({**A, "unevaluatedProperties": False}, {"a": 1}, {"b": 1}),
        ({**A, "not": {"required": ["b"]}}, {"a": 1}, {"b": 1}),
        ({**A, "maxProperties": 1}, {"a": 1}, {"a": 1, "b": 1}),
        ({**A, "allOf": [{"required": ["b"]}]}, {"b": 1}, {"a": 1}),
        ({"$ref": "#/components/schemas/Sib"}, {"zz": 1}, {"a": 1}),
        ({"$ref": "#/components/schemas/Chain"}, {"zz": 1}, {"a": 1}),
        ({"type": "array", "items": SIBLINGS}, [{"zz": 1}], [{"a": 1}]),
        ({"allOf": [SIBLINGS]}, {"zz": 1}, {"a": 1}),
        ({"anyOf": [SIBLINGS, {"type": "string"}]}, {"zz": 1}, {"a": 1}),
        ({"properties": {"o": SIBLINGS}}, {"o": {"zz": 1}}, {"o": {"a": 1}}),
        ({"additionalProperties": SIBLINGS}, {"o": {"zz": 1}}, {"o": {"a": 1}}),
        ({**A, "properties": {"zz": {"type": "string"}}}, {"zz": "x"}, {"zz": 1}),
    ],
)
def test_they_count_in_a_body(tmp_path: Path, schema: Any, accepted: Any, refused: Any) -> None:
    for body in (content(schema), {"$ref": "#/components/requestBodies/B"}):
        served, problems = operation(
            tmp_path, get(requestBody=body), requestBodies={"B": content(schema)}
        )
        assert problems == []
        ask(served, accepted)
        with pytest.raises(GatewayError):
            ask(served, refused)


@each("place", ["query", "header", "cookie"])
def test_they_count_in_a_parameter(tmp_path: Path, place: str) -> None:
    schema = {"$ref": "#/components/schemas/Str", "maxLength": 2}
    served, _ = operation(tmp_path, get(parameters=[{"name": "s", "in": place, "schema": schema}]))

    def check(value: str) -> None:
        headers = {"header": {"s": value}, "cookie": {"cookie": f"s={value}"}}.get(place)
        check_parameters(served.parameters, exchange(query=f"s={value}", headers=headers))

    check("ab")
    with pytest.raises(GatewayError):
        check("abc")


def test_they_count_for_the_types_of_a_form(tmp_path: Path) -> None:
    schema = {**A, "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    body = {"content": {"multipart/form-data": {"schema": schema}}}
    served, _ = operation(tmp_path, get(requestBody=body))
    assert ask(served, *form_data([["n", "5"], ["a", "6"]])) == {"n": 5, "a": 6}


def test_they_count_in_a_response(tmp_path: Path) -> None:
    value = document(
        paths={"/x": {"get": get(responses={"200": {"description": "d", **content(SIBLINGS)}})}},
        components={"schemas": SCHEMAS},
    )
    specification, _ = read(tmp_path, value)
    assert specification is not None
    validators = specification.response_validators(specification.operations["x"])
    assert validators.check(200, b'{"zz": 1}') is None
    assert validators.check(200, b'{"a": 1}') is not None


def test_30_ignores_them_with_a_warning(tmp_path: Path) -> None:
    served, problems = operation(tmp_path, get(requestBody=content(SIBLINGS)), "3.0.3")
    assert [problem.code for problem in problems] == ["MW250", "MW250"]
    assert "'required'" in problems[0].message
    ask(served, {"a": 1})
    with pytest.raises(GatewayError):
        ask(served, {"a": "x"})


def test_30_says_nothing_of_notes(tmp_path: Path) -> None:
    noted = {**A, "description": "d", "x-note": 5, "example": {}}
    _, problems = operation(tmp_path, get(requestBody=content({"items": noted})), "3.0.3")
    assert [problem for problem in problems if "Sib" not in problem.message][1:] == []


def test_a_reference_to_another_object_keeps_what_is_beside_it(tmp_path: Path) -> None:
    parameter = {"$ref": "#/components/parameters/P", "required": True, "description": "d"}
    served, problems = operation(
        tmp_path,
        get(parameters=[parameter]),
        parameters={"P": {"name": "p", "in": "query", "schema": {"type": "integer"}}},
    )
    assert problems == []
    assert [(p.name, p.required) for p in served.parameters] == [("p", False)]


@pytest.mark.parametrize(
    ("beside", "lost"),
    [
        ({"description": "d", "example": "e", "deprecated": True}, None),
        ({"type": "string", "title": "t"}, None),
        ({"type": "string", "maxLength": 3}, "'maxLength'"),
        ({"type": "integer"}, "'type'"),
        ({"readOnly": True}, "'readOnly'"),
        ({"readOnly": False, "writeOnly": False, "uniqueItems": False}, None),
        ({"nullable": False}, None),
        ({"nullable": True}, None),  # null is allowed, which MW240 says
    ],
)
def test_30_warns_only_of_what_changes_how_values_are_judged(tmp_path, beside, lost):
    assert losses(tmp_path, {"type": "string"}, beside) == ([] if lost is None else [lost])


@pytest.mark.parametrize(
    ("target", "beside", "lost"),
    [
        ({"type": "string", "nullable": True}, {"nullable": False}, ["'nullable'"]),
        ({"$ref": "#/components/schemas/Null"}, {"nullable": False}, ["'nullable'"]),
        ({"$ref": "#/components/schemas/Null"}, {"nullable": True}, []),
        ({"type": "string", "readOnly": True}, {"readOnly": False}, ["'readOnly'"]),
        ({"$ref": "#/components/schemas/Null"}, {"type": "string"}, []),
    ],
)
def test_30_compares_what_is_beside_a_reference_with_the_end_of_its_chain(
    tmp_path, target, beside, lost
):
    assert losses(tmp_path, target, beside) == lost


def losses(folder, target, beside):
    """The keywords beside a reference to a schema of which a warning says that 3.0 ignores them."""
    schemas = {
        "Null": {"type": "string", "nullable": True},
        "A": target,
        "B": {"$ref": "#/components/schemas/A", **beside},
    }
    file = folder / "d.json"
    file.write_text(json.dumps(document(version="3.0.3", components={"schemas": schemas})))
    findings = Findings()
    assert spec.read("d", file, "d.json", (), findings) is not None
    messages = [p.message for p in findings.unsorted if p.code == "MW250"]
    return [
        message.removeprefix("OpenAPI 3.0 ignores what is beside a $ref: ") for message in messages
    ]
