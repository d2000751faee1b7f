"""Parameters of Swagger 2.0 and their collection formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.document.swagger.parameters import style_of
from tests.support.each import each
from tests.support.swagger import only, refusal_of_parameters, swagger

NUMBERS = {"type": "array", "items": {"type": "integer"}, "minItems": 2}


@each(
    ("name", "query"),
    [
        ("csv", "x=1,2"),
        ("csv", "x=1%2C2"),
        ("ssv", "x=1%202"),
        ("ssv", "x=1+2"),
        ("tsv", "x=1%092"),
        ("pipes", "x=1|2"),
        ("pipes", "x=1%7C2"),
        ("multi", "x=1&x=2"),
    ],
)
def test_a_list_in_the_query_has_the_separator_of_its_format(
    tmp_path: Path, name: str, query: str
) -> None:
    entry = NUMBERS | {"name": "x", "in": "query", "collectionFormat": name}
    operation = only(tmp_path, swagger(entry))
    assert refusal_of_parameters(operation, query=query) == ""
    assert refusal_of_parameters(operation, query="x=1;2") != ""


@each(
    ("name", "text"),
    [("csv", "1,2"), ("ssv", "1 2"), ("tsv", "1\t2"), ("pipes", "1|2")],
)
def test_a_list_in_a_header_has_it_too(tmp_path: Path, name: str, text: str) -> None:
    entry = NUMBERS | {"name": "x-ids", "in": "header", "collectionFormat": name}
    operation = only(tmp_path, swagger(entry))
    assert refusal_of_parameters(operation, headers={"x-ids": text}) == ""
    assert refusal_of_parameters(operation, headers={"x-ids": "1"}) != ""


@each(("query", "valid"), [("x=1,2|3,4", True), ("x=1,2|3", False), ("x=1,a|3,4", False)])
def test_lists_in_a_list_have_formats_of_their_own(tmp_path: Path, query: str, valid: bool) -> None:
    entry = {"name": "x", "in": "query", "type": "array", "collectionFormat": "pipes"}
    operation = only(tmp_path, swagger({**entry, "items": NUMBERS}))
    assert (refusal_of_parameters(operation, query=query) == "") is valid


@each(
    ("parameter", "style"),
    [
        ({"type": "string", "in": "query", "collectionFormat": "pipes"}, {}),
        ({"type": "array", "in": "path"}, {}),
        ({"type": "array", "in": "path", "collectionFormat": "multi"}, {}),
        ({"type": "array", "in": "query"}, {"style": "form", "explode": False}),
        (
            {"type": "array", "in": "query", "collectionFormat": "odd"},
            {"style": "form", "explode": False},
        ),
        ({"type": "array", "in": "formData"}, {"style": "csv", "explode": False}),
    ],
)
def test_a_format_is_a_style(parameter: dict[str, Any], style: dict[str, Any]) -> None:
    assert style_of(parameter) == style


def test_an_empty_value_is_valid_where_it_is_allowed(tmp_path: Path) -> None:
    entry = {"name": "n", "in": "query", "type": "integer"}
    assert refusal_of_parameters(only(tmp_path, swagger(entry)), query="n=") != ""
    allowed = only(tmp_path, swagger(entry | {"allowEmptyValue": True}))
    assert refusal_of_parameters(allowed, query="n=") == ""
