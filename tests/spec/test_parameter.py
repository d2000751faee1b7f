"""Parameters of operations as they are compiled. Requests with them are in test_operation.py."""

from __future__ import annotations

from pathlib import Path

from tests.support.documents import causes, document, get, read, warning_codes


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
