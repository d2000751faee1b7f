"""Dynamic references: they lead to the outermost anchor of the way by which they were reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.document.references import dynamic_references
from tests.support.documents import accepts, read_with_schema

INTEGER = {"type": "integer"}
TREE = {
    "$id": "tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {
        "data": True,
        "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
    },
}
STRICT_TREE = {
    "$id": "strict-tree",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
}
LIST = {
    "$id": "list",
    "type": "array",
    "items": {"$dynamicRef": "#item"},
    "$defs": {"any": {"$dynamicAnchor": "item"}},
}


def _list_of(name: str, kind: str) -> dict[str, Any]:
    item = {"$dynamicAnchor": "item", "type": kind}
    return {"$id": name, "$ref": "list", "$defs": {"item": item}}


def test_a_dynamic_reference_leads_to_the_outermost_anchor(tmp_path: Path) -> None:
    misspelt = {"children": [{"daat": 1}]}
    correct = {"children": [{"data": 1, "children": []}]}
    schemas = {"Tree": TREE, "StrictTree": STRICT_TREE}
    specification, warnings = read_with_schema(tmp_path, {"$ref": "strict-tree"}, **schemas)
    assert warnings == []
    assert accepts(specification, correct)
    assert not accepts(specification, misspelt)
    specification, _ = read_with_schema(tmp_path, {"$ref": "tree"}, **schemas)
    assert accepts(specification, misspelt)


def test_a_schema_is_judged_by_the_way_it_was_reached(tmp_path: Path) -> None:
    schemas = {
        "List": LIST,
        "Texts": _list_of("texts", "string"),
        "Numbers": _list_of("numbers", "integer"),
    }
    names = {"properties": {name: {"$ref": name} for name in ("list", "texts", "numbers")}}
    specification, warnings = read_with_schema(tmp_path, names, **schemas)
    assert warnings == []
    assert accepts(specification, {"list": [1, "a"], "texts": ["a"], "numbers": [1]})
    assert not accepts(specification, {"texts": [1]})
    assert not accepts(specification, {"numbers": ["a"]})


def test_a_dynamic_reference_beside_a_reference_counts_too(tmp_path: Path) -> None:
    schema = {"$ref": "#/components/schemas/Small", "$dynamicRef": "#size"}
    schemas = {"Small": {"maximum": 9}, "Size": {"$dynamicAnchor": "size", **INTEGER}}
    specification, warnings = read_with_schema(tmp_path, schema, **schemas)
    assert warnings == []
    assert accepts(specification, 5)
    assert not accepts(specification, 50)
    assert not accepts(specification, 5.5)


def test_ways_to_a_dynamic_reference_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic_references, "MAX_COPIES", 1)
    schemas = {
        "List": LIST,
        "Texts": _list_of("texts", "string"),
        "Numbers": _list_of("numbers", "integer"),
    }
    names = {"properties": {name: {"$ref": name} for name in ("texts", "numbers")}}
    specification, warnings = read_with_schema(tmp_path, names, **schemas)
    assert [w for w in warnings if "more than 1 ways" in w]
    assert accepts(specification, {"texts": ["a"], "numbers": [1]})


def test_a_file_that_cannot_be_read_is_told_beside_dynamic_references(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{]")
    broken = {"$ref": "broken.json"}
    schemas = {"Tree": TREE, "StrictTree": STRICT_TREE, "Broken": broken}
    specification, warnings = read_with_schema(tmp_path, {"$ref": "strict-tree"}, **schemas)
    assert [w for w in warnings if "MW203" in w]
    assert not accepts(specification, {"children": [{"daat": 1}]})
