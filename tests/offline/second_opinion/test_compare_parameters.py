"""What both readers say of parameters."""

from typing import Any

import pytest

from tests.support.second_opinions import plan, played


def parameters(*declared: dict[str, Any]) -> dict[str, Any]:
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    return {"parameters": [path, *declared]}


SHORT = {"allOf": [{"$ref": "#/components/schemas/Name", "maxLength": 3}]}


@pytest.mark.parametrize(
    ("place", "target", "headers"),
    [
        ("query", "/v1/items/1?name=green+tea", {}),
        ("header", "/v1/items/1", {"name": "green tea"}),
        ("cookie", "/v1/items/1", {"cookie": "a=b; name=green%20tea"}),
    ],
)
def test_a_parameter_that_one_refuses_is_a_warning(tmp_path, place, target, headers):
    planned = plan(tmp_path, parameters({"name": "name", "in": place, "schema": SHORT}))
    (warning,) = played(planned, target, **headers)
    assert warning.startswith(f"MW421: {place} parameter 'name': Modelway accepts it, openapi-core")


def test_a_path_parameter_that_both_refuse_is_not_mentioned(tmp_path):
    assert played(plan(tmp_path, {}), "/v1/items/one") == []


def test_a_missing_parameter_is_refused_by_both(tmp_path):
    required = {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}
    assert played(plan(tmp_path, parameters(required)), "/v1/items/1") == []


@pytest.mark.parametrize(
    ("declared", "query"),
    [
        pytest.param({"type": "string"}, "n=", id="an empty value"),
        pytest.param({"type": "array", "items": {"type": "integer"}}, "n[]=1", id="brackets"),
        pytest.param({"type": "string"}, "n=%ff", id="not UTF-8"),
    ],
)
def test_query_text_of_the_table_is_not_compared(tmp_path, declared, query):
    planned = plan(tmp_path, parameters({"name": "n", "in": "query", "schema": declared}))
    assert played(planned, f"/v1/items/1?{query}") == []
