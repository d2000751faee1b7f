"""What the second opinion says of documents and requests: differences only, and no noise."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.offline.second_opinion import compare
from engine.offline.second_opinion.compare import compare_examples
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.source.problem import Level, Problem
from tests.support.second_opinions import GATEWAY, plan, played

AMBIGUOUS = {"properties": {"name": {"$ref": "#/components/schemas/Name", "maxLength": 3}}}
"""A schema of 3.0 in which maxLength means nothing to the standard, but counts for openapi-core."""
LONG = {"name": "green tea"}


def body(schema: Any, *examples: Any, media_type: str = "application/json") -> dict[str, Any]:
    examples_by_name = {f"e{index}": {"value": example} for index, example in enumerate(examples)}
    return {
        "requestBody": {"content": {media_type: {"schema": schema, "examples": examples_by_name}}}
    }


def answer(schema: Any, example: Any, status: str = "200") -> dict[str, Any]:
    content = {"application/json": {"schema": schema, "example": example}}
    return {"responses": {status: {"description": "ok", "content": content}}}


def warnings_of(planned: PlanResult) -> list[Problem]:
    compare_examples(planned)
    return [item for item in planned.findings.problems if item.code in ("MW421", "MW422")]


def test_an_example_of_a_body_that_both_accept_is_not_mentioned(tmp_path):
    assert warnings_of(plan(tmp_path, body({"type": "object"}, LONG))) == []


def test_an_example_of_a_body_that_both_refuse_is_not_mentioned(tmp_path):
    assert warnings_of(plan(tmp_path, body({"type": "array"}, LONG))) == []


def test_an_example_of_a_body_that_one_refuses_is_a_warning_with_both_readings(tmp_path):
    (problem,) = warnings_of(plan(tmp_path, body(AMBIGUOUS, LONG)))
    assert problem.level is Level.WARNING
    assert problem.message == (
        "this example of shop.put: Modelway accepts it, "
        "openapi-core refuses it (name: 'green tea' is too long)"
    )


def test_the_warning_stands_at_the_example(tmp_path):
    (problem,) = warnings_of(plan(tmp_path, body(AMBIGUOUS, {"name": "tea"}, LONG)))
    line = (tmp_path / "shop.yaml").read_text().splitlines()[problem.line - 1]
    assert (Path(problem.file).name, line.strip()) == ("shop.yaml", "name: green tea")


@pytest.mark.parametrize("status", ["200", "2XX", "default", "404"])
def test_an_example_of_a_response_is_compared_too(tmp_path, status):
    (problem,) = warnings_of(plan(tmp_path, answer(AMBIGUOUS, LONG, status)))
    assert "openapi-core refuses it (name: 'green tea' is too long)" in problem.message


def test_the_example_of_a_schema_is_compared_too(tmp_path):
    (problem,) = warnings_of(plan(tmp_path, body({**AMBIGUOUS, "example": LONG})))
    assert problem.code == "MW421"


def test_operations_without_a_route_are_not_compared(tmp_path):
    routes = GATEWAY.replace("shop.*", "shop.other")
    assert warnings_of(plan(tmp_path, body(AMBIGUOUS, LONG), routes=routes)) == []


def test_a_config_with_errors_is_not_compared(tmp_path):
    planned = make_plan(tmp_path / "gateway.yaml", {})
    before = planned.findings.problems
    compare_examples(planned)
    assert planned.findings.problems == before


@pytest.mark.parametrize(
    ("version", "schema", "example"),
    [
        pytest.param(
            "3.1.0",
            {
                "oneOf": [{"properties": {"kind": {"const": "cat"}}}],
                "discriminator": {"propertyName": "kind"},
            },
            {"kind": "cat"},
            id="discriminator",
        ),
        pytest.param(
            "3.1.0",
            {
                "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"type": "object"}],
                "discriminator": {
                    "propertyName": "kind",
                    "mapping": {"cat": "#/components/schemas/Cat"},
                },
            },
            {"kind": "cat"},
            id="discriminator of a value that two alternatives accept",
        ),
        pytest.param(
            "3.1.0",
            {"properties": {"id": {"readOnly": True}}, "required": ["id"]},
            {},
            id="readOnly in 3.1",
        ),
        pytest.param(
            "3.0.3",
            {"properties": {"id": {"$ref": "#/components/schemas/Id"}}, "required": ["id"]},
            {},
            id="readOnly behind a reference",
        ),
        pytest.param("3.0.3", {"type": "string", "format": "byte"}, "YQ", id="format"),
        pytest.param("3.1.0", {"type": "string", "format": "email"}, "nobody", id="format email"),
        pytest.param("3.1.0", {"type": "integer", "format": "int32"}, 3e9, id="float for int32"),
        pytest.param("3.1.0", {"multipleOf": 0.1}, 0.3, id="multipleOf"),
        pytest.param("3.1.0", {"type": "string", "pattern": r"^\d$"}, "٣", id="pattern"),
    ],
)
def test_known_limits_of_openapi_core_are_not_mentioned(tmp_path, version, schema, example):
    identifier = {"type": "string", "readOnly": True}
    cat = {"type": "object", "properties": {"kind": {"const": "cat"}}}
    planned = plan(tmp_path, body(schema, example), version=version, Id=identifier, Cat=cat)
    assert warnings_of(planned) == []


@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_forms_are_not_compared(tmp_path, media_type):
    assert warnings_of(plan(tmp_path, body(AMBIGUOUS, LONG, media_type=media_type))) == []


def test_a_failure_of_openapi_core_is_information_and_mentioned_once(tmp_path):
    unreadable = {"type": "string", "pattern": r"^\p{L}+$"}
    (problem,) = warnings_of(plan(tmp_path, body(unreadable, "a", "b", "c")))
    assert (problem.code, problem.level) == ("MW422", Level.INFO)
    assert "and 2 more examples" in problem.message


def test_of_many_examples_some_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "MAX_EXAMPLES", 4)
    planned = plan(tmp_path, body(AMBIGUOUS, *({"name": f"green tea {n}"} for n in range(10))))
    assert len(warnings_of(planned)) == 4


def test_a_file_that_a_document_refers_to_is_read_as_modelway_repaired_it(tmp_path):
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump({"Name": {"type": "string"}}))
    schema = {"properties": {"name": {"$ref": "parts.yaml#/Name", "maxLength": 3}}}
    (problem,) = warnings_of(plan(tmp_path, body(schema, LONG)))
    assert problem.code == "MW421"


JSON = {"content-type": "application/json"}


def test_a_request_that_both_accept_is_not_mentioned(tmp_path):
    assert played(plan(tmp_path, body(AMBIGUOUS)), "/v1/items/1", {"name": "tea"}) == []


def test_a_body_that_one_refuses_is_a_warning_with_both_readings(tmp_path):
    assert played(plan(tmp_path, body(AMBIGUOUS)), "/v1/items/1", LONG) == [
        "MW421: the body: Modelway accepts it, "
        "openapi-core refuses it (name: 'green tea' is too long)"
    ]


@pytest.mark.parametrize("data", [b'{"name": NaN}', b'{"name": ', b'"\\ud800"'])
def test_text_that_is_not_json_is_not_compared(tmp_path, data):
    assert played(plan(tmp_path, body({})), "/v1/items/1", data, **JSON) == []


def test_a_body_of_an_operation_without_one_is_not_compared(tmp_path):
    assert played(plan(tmp_path, {}), "/v1/items/1", LONG) == []


def test_a_route_that_validates_nothing_is_not_compared(tmp_path):
    routes = GATEWAY.replace("auth: none", "auth: none, validate: 'off'")
    assert played(plan(tmp_path, body(AMBIGUOUS), routes=routes), "/v1/items/1", LONG) == []


def test_a_request_without_a_route_is_not_compared(tmp_path):
    assert played(plan(tmp_path, body(AMBIGUOUS)), "/v1/elsewhere", LONG) == []


def test_a_failure_of_openapi_core_on_a_request_is_reported(tmp_path):
    planned = plan(tmp_path, body({"type": "string", "pattern": r"^\p{L}+$"}))
    (warning,) = played(planned, "/v1/items/1", "a")
    assert warning.startswith("MW422: this request was not compared: openapi-core fails (")


@pytest.mark.parametrize("key", ["example", "examples"])
def test_a_reference_in_an_example_is_data(tmp_path, key):
    data = {"$ref": "#/nothing", "name": "green tea"}
    schema = {**AMBIGUOUS, key: data if key == "example" else [data]}
    warnings_of(plan(tmp_path, body(schema, data)))
    assert len(warnings_of(plan(tmp_path, answer(AMBIGUOUS, data)))) == 1


ENDLESS = {"type": "string", "pattern": "^(a|aa)+$"}
"""A pattern for which Python's regular expressions need a time that doubles with every letter."""


def test_an_example_that_takes_openapi_core_too_long_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "SECONDS", 0.2)
    planned = plan(tmp_path, body(ENDLESS, "a" * 80 + "b", "a"))
    compare_examples(planned)
    codes = [problem.code for problem in planned.findings.problems]
    assert codes == ["MW215"]


def test_a_request_that_takes_openapi_core_too_long_is_not_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "SECONDS", 0.2)
    (warning,) = played(plan(tmp_path, body(ENDLESS)), "/v1/items/1", "a" * 80 + "b")
    assert "MW422" in warning
    assert "took more than" in warning


def test_a_schema_is_compared_as_modelway_repaired_it(tmp_path):
    (tmp_path / "part.yaml").write_text(
        "Broken: {type: object, properties: {$ref: '#/Other'}}\nOther: {a: {type: string}}\n"
    )
    planned = plan(tmp_path, answer({"$ref": "part.yaml#/Broken"}, {"a": 1}))
    compare_examples(planned)
    assert {problem.code for problem in planned.findings.problems} == {"MW251"}


def test_an_example_nested_deeper_than_json_may_be_is_not_compared(tmp_path):
    value: Any = 1
    for _ in range(150):
        value = {"a": value}
    deep = {"a": [[[[value]]]]}
    planned = plan(tmp_path, body({"type": "object"}, deep))
    compare_examples(planned)
