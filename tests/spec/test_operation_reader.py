"""Reading operations one by one: each has a name, or a problem that prevents that it is served."""

from __future__ import annotations

from typing import Any

from engine.source.problem import Findings
from engine.spec.operation_reader import OperationReader
from engine.spec.schemas import Schemas
from tests.support.documents import document, library

RESPONSES = {"responses": {"200": {"description": "d"}}}


def reader_of(paths: dict[str, Any]) -> OperationReader:
    files = library(document(paths=paths))
    reader = OperationReader("api", files, Schemas(files), ("/v1",), Findings())
    reader.read()
    return reader


def test_operations_have_names_and_mounts() -> None:
    reader = reader_of({"/a": {"get": {"operationId": "a", **RESPONSES}, "post": RESPONSES}})
    assert list(reader.operations) == ["a", "POST /a"]
    assert reader.operations["a"].mounts == ("/v1",)
    assert reader.refusals == {}
    assert reader.findings.problems == []


def test_what_cannot_be_routed_is_refused_with_its_problem() -> None:
    reader = reader_of({"/{": {"get": RESPONSES}, "/b": {"get": RESPONSES}, "x-c": {"get": 1}})
    assert list(reader.operations) == ["GET /b"]
    assert {name: p.code for name, p in reader.refusals.items()} == {"GET /{": "MW205"}


def test_operations_of_one_path_are_noted_as_alternatives() -> None:
    reader = reader_of({"/a/{id}": {"get": RESPONSES}, "/a/{name}": {"get": RESPONSES}})
    assert len(reader.operations) == 2
    assert "MW230" in {problem.code for problem in reader.findings.problems}
