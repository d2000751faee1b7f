"""What path items hold: operations, their methods, parameters and examples."""

from __future__ import annotations

from engine.spec.document.path_items import (
    declared_parameters,
    example_value,
    method_of,
    operations_of,
)
from tests.support.documents import document, library

ITEM = {
    "summary": "no operation",
    "parameters": [{"name": "a"}],
    "post": {"parameters": [{"name": "b"}]},
    "get": {},
    "additionalOperations": {"LINK": {}, "x-note": {}},
}


def test_operations_are_those_of_methods_and_then_the_additional_ones() -> None:
    item = library(document(paths={"/x": ITEM})).document.get("paths").get("/x")
    paths = [at for at, _ in operations_of(item)]
    assert paths == [("get",), ("post",), ("additionalOperations", "LINK")]
    assert [method_of(at) for at in paths] == ["GET", "POST", "LINK"]


def test_the_parameters_of_an_operation_follow_those_of_its_path() -> None:
    item = library(document(paths={"/x": ITEM})).document.get("paths").get("/x")
    assert [p.text("name") for p in declared_parameters(item, item.get("post"))] == ["a", "b"]
    assert [p.text("name") for p in declared_parameters(item, item.get("get"))] == ["a"]


def test_the_data_value_of_an_example_precedes_its_value() -> None:
    examples = library({"both": {"dataValue": 1, "value": 2}, "plain": {"value": 2}}).document
    assert example_value(examples.get("both")).value == 1
    assert example_value(examples.get("plain")).value == 2
