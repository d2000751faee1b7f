"""Nodes: values in the files of a document, found by JSON Pointers."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

from tests.support.each import each
from tests.support.libraries import HEAD, at, read


def test_a_pointer_leads_into_lists(tmp_path: Path) -> None:
    library, problems = read(tmp_path, api=HEAD + "a: {$ref: '#/b/1'}\nb: [{x: 1}, {x: 2}]\n")
    assert problems == []
    assert at(library, "a", "x").value == 2


def test_a_node_below_a_missing_one_has_no_value(tmp_path: Path) -> None:
    library, _ = read(tmp_path, api=HEAD + "a: {b: [1, {c: x}], d: 5}\n")
    node = at(library, "a")
    assert node.get("x").get("y").value is None
    assert list(node.get("d").items()) == []
    assert list(node.get("d").elements()) == []
    assert [item.value for item in node.get("b").elements()] == [1, {"c": "x"}]
    assert node.text("d", "else") == "else"
    assert node.text("x") == ""


def test_extensions_are_neither_paths_nor_responses(tmp_path: Path) -> None:
    """What they refer to need not exist."""
    absent = {"$ref": "absent.yaml"}
    responses = {"200": {"description": "fine"}, "x-more": absent}
    paths = {"/a": {"get": {"responses": responses}}, "x-paths": absent}
    components = {"responses": {"x-name": {"description": "a name"}}}
    document = {"openapi": "3.1.0", "paths": paths, "components": components}
    library, problems = read(tmp_path, api=json.dumps(document))
    assert problems == []
    assert [key for key, _ in at(library, "paths").items()] == ["/a"]
    operation = at(library, "paths", "/a", "get")
    assert [key for key, _ in operation.get("responses").items()] == ["200"]
    named = at(library, "components").get("responses")
    assert [key for key, _ in named.items()] == ["x-name"]


@each("steps", [("a/b",), ("a~b", "c d"), ("{x}", "200"), ("é", "%")])
def test_the_pointer_of_a_node_leads_back_to_it(tmp_path: Path, steps: Any) -> None:
    value: Any = 1
    for step in reversed(steps):
        value = {step: value}
    library, _ = read(tmp_path, api=json.dumps({"openapi": "3.1.0", "t": value}))
    assert library is not None
    node = at(library, "t", *steps)
    _, _, pointer = node.pointer.partition("#")
    assert library.at(node.uri, pointer) == node


def test_what_is_read_of_a_released_document_is_not_kept(tmp_path: Path) -> None:
    schemas = {f"S{n}": {"properties": {"a": {"type": "string"}}} for n in range(500)}
    parameters = [{"$ref": f"#/components/schemas/S{n}"} for n in range(500)]
    document = {"openapi": "3.1.0", "components": {"schemas": schemas}, "a": parameters}
    library, _ = read(tmp_path, api=json.dumps(document))
    library.targets = {}  # as while it is compiled
    library.release()
    tracemalloc.start()
    try:
        assert len([node.value for node in library.document.get("a").elements()]) == 500
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()
