"""Parameters of operations as they are compiled. Requests with them are in test_operation.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.parameter import accepts_parameters, check_parameters
from engine.values.errors import GatewayError
from tests.support.documents import causes, document, exchange, get, operations, read, warning_codes
from tests.support.each import each


def test_a_path_parameter_absent_from_the_template_is_a_problem(tmp_path: Path) -> None:
    declared = {"name": "y", "in": "path", "required": True, "schema": {}}
    value = document(paths={"/{x}": {"get": get(parameters=[declared])}})
    assert warning_codes(tmp_path, value) == ["MW207"]


def test_a_style_that_a_place_does_not_have_is_a_problem(tmp_path: Path) -> None:
    declared = {"name": "q", "in": "query", "style": "matrix", "schema": {}}
    assert warning_codes(tmp_path, document(paths={"/x": {"get": get(parameters=[declared])}})) == [
        "MW204"
    ]


def test_a_parameter_in_another_file_without_a_name_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("p: {in: query, schema: {type: string}}\n")
    value = document(paths={"/x": {"get": get(parameters=[{"$ref": "s.yaml#/p"}])}})
    (problem,) = causes(read(tmp_path, value)[1])
    assert (problem.code, problem.file, problem.line) == ("MW204", "s.yaml", 1)


TEXT = {"type": "string"}
SORT = {"type": "object", "properties": {"created": {"enum": ["asc", "desc"]}}}
RANGE = {"type": "object", "properties": {"gt": TEXT}, "additionalProperties": False}
ADDRESS = {"type": "object", "properties": {"city": {"type": "object"}, "street": TEXT}}
OF_LOB = [
    {"name": "created", "in": "query", "schema": RANGE, "style": "deepObject"},
    {"name": "sort_by", "in": "query", "schema": SORT},
]
"""Both read `created`: one with brackets, one without."""
OF_A_PROPERTY = [
    {"name": "city", "in": "query", "schema": TEXT},
    {"name": "address", "in": "query", "schema": ADDRESS},
]


@each(
    ("parameters", "query", "refused"),
    [
        (OF_LOB, "created=asc", ""),
        (OF_LOB, "created%5Bgt%5D=2", ""),
        (OF_LOB, "created%5Bgt%5D=2&created=desc", ""),
        (OF_LOB, "created=up", "sort_by.created"),
        (OF_LOB, "created%5Blt%5D=2", "created.lt"),
        (OF_LOB[:1], "created=asc", "created"),
        (OF_A_PROPERTY, "city=Ulm&street=x", ""),
        (OF_A_PROPERTY[1:], "city=Ulm", "address.city"),
    ],
)
def test_a_name_that_several_parameters_could_read_belongs_to_one(
    tmp_path: Path, parameters: list[Any], query: str, refused: str
) -> None:
    value = document(paths={"/x": {"get": get("x", parameters=parameters)}})
    operation = operations(tmp_path, value)["x"]
    request = exchange(method="GET", query=query)
    assert accepts_parameters(operation.parameters, request) is not bool(refused)
    if not refused:
        check_parameters(operation.parameters, request)
        return
    with pytest.raises(GatewayError) as excinfo:
        check_parameters(operation.parameters, request)
    assert excinfo.value.param == refused
