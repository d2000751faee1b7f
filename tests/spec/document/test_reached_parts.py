"""The parts of a document that operations reach through references."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.source.reader import SourceDocument
from engine.spec.document.node import Library
from engine.spec.document.reached_parts import ReachedParts
from tests.support.documents import HERE, document, library
from tests.support.each import each

OTHER = Path("/nowhere/parts/other.json")


def schema(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def files() -> Library:
    """A document whose references lead through several files, packed as after reading."""
    paths = {
        "/a": {
            "parameters": [{"$ref": "parts/other.json#/page"}],
            "get": {"responses": {"200": schema("A")}},
            "post": {"requestBody": schema("D")},
            "additionalOperations": {"LINK": {"requestBody": schema("E~1x")}},
        },
        "/b": {"$ref": "parts/other.json#/item"},
    }
    names = ("A", "B", "C", "D", "E/x", "F")
    schemas: dict[str, Any] = {key: {} for key in names} | {
        "A": {"allOf": [schema("B"), schema("A")]}
    }
    files = library(document(paths=paths, components={"schemas": schemas}, webhooks={"w": {}}))
    here = "../document.json#/components/schemas"
    parts = {
        "page": {"schema": {"$ref": "#/sizes/0"}},
        "item": {"get": {"requestBody": {"$ref": f"{here}/C/properties/x"}}},
        "sizes": [{"$ref": f"{here}/F"}, {"$ref": "gone.json"}],
    }
    schemas["C"] = {"properties": {"x": {}}}
    files.files[OTHER] = SourceDocument("other.json", "", parts)
    files.pack()
    return files


@each(
    ("operation", "components", "of_other"),
    [
        (("paths", "/a", "get"), {"A", "B", "F"}, {"page", "sizes/0"}),
        (("paths", "/a", "post"), {"D", "F"}, {"page", "sizes/0"}),
        (("paths", "/a", "additionalOperations", "LINK"), {"E/x", "F"}, {"page", "sizes/0"}),
        (("paths", "/b", "get"), {"C/properties/x"}, {"item"}),
    ],
)
def test_references_are_followed(
    operation: tuple[str, ...], components: set[str], of_other: set[str]
) -> None:
    every = [("paths", "/a", "get"), ("paths", "/a", "post"), ("paths", "/b", "get")]
    every.append(("paths", "/a", "additionalOperations", "LINK"))
    parts = ReachedParts(files(), [operation], [at for at in every if at != operation])
    places = {(name,): name for name in ("A", "B", "C", "D", "E/x", "F")}
    places |= {("C", "properties", "x"): "C/properties/x"}
    reached = {n for p, n in places.items() if parts.has(HERE, ("components", "schemas", *p, "y"))}
    assert reached == components
    others = {("page",): "page", ("item",): "item", ("sizes", 0): "sizes/0", ("sizes", 1): "1"}
    assert {name for path, name in others.items() if parts.has(OTHER, path)} == of_other
    assert [at for at in every if parts.has(HERE, (*at, "tags"))] == [operation]


def test_all_of_a_path_is_reached_with_its_operations() -> None:
    parts = ReachedParts(files(), [("paths", "/b", "get")], [("paths", "/a", "get")])
    assert parts.has(HERE, ("paths", "/b"))
    assert parts.has(HERE, ("paths", "/b", "parameters", 0))
    assert not parts.has(HERE, ("paths", "/a"))
    assert not parts.has(HERE, ("paths", "/a", "parameters", 0))


@each(
    ("path", "is_reached"),
    [
        ((), True),
        (("info", "title"), True),
        (("components", "securitySchemes", "token"), True),
        (("webhooks", "w"), False),
        (("components", "schemas"), False),
    ],
)
def test_what_is_about_the_document_as_a_whole_is_reached(
    path: tuple[str, ...], is_reached: bool
) -> None:
    assert ReachedParts(files(), [], []).has(HERE, path) is is_reached
