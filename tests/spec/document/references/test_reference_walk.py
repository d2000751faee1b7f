"""Which references of a document are found."""

from __future__ import annotations

from typing import Any

from engine.spec.document.references.reference_walk import all_references, is_extension, references
from tests.support.documents import document, library
from tests.support.each import each

REF = {"$ref": "#/a"}


def found(root: Any, *keywords: str) -> list[str]:
    """The paths of the references in a schema."""
    files = library(document(components={"schemas": {"Root": root}}))
    node = files.document.step("components").step("schemas").step("Root")
    paths = [at.path[3:] for at in references(node, keywords or ("$ref",))]
    return sorted("/".join(map(str, path)) for path in paths)


@each(
    "root,expected",
    [
        (REF, [""]),
        ({"items": REF, "anyOf": [REF, {"not": REF}]}, ["anyOf/0", "anyOf/1/not", "items"]),
        ({"properties": {"example": REF, "x-a": REF}}, ["properties/example", "properties/x-a"]),
        ({"example": REF, "default": REF, "const": REF, "enum": [REF]}, []),
        ({"examples": [REF], "x-a": REF}, []),
        ({"examples": {"a": {"value": REF, "dataValue": REF}, "b": REF}}, ["examples/b"]),
        (
            {"examples": {"default": REF, "enum": REF}, "links": {"const": REF}},
            ["examples/default", "examples/enum", "links/const"],
        ),
        ({"properties": {"examples": {"default": REF}}}, []),
        ({"$ref": 5, "items": {"$ref": None}}, []),
    ],
)
def test_references_are_found_outside_of_values(root: Any, expected: list[str]) -> None:
    assert found(root) == expected


def test_a_mapping_with_several_keywords_is_found_once() -> None:
    root = {"$ref": "#/a", "$dynamicRef": "#b", "items": {"$dynamicRef": "#c"}}
    assert found(root, "$ref", "$dynamicRef") == ["", "items"]


def test_extensions_that_references_lead_to_are_walked() -> None:
    files = library(document(**{"x-a": {"b": REF}}, components={"schemas": {"A": REF}}))
    assert [at.path for at in all_references(files)] == [("components", "schemas", "A")]
    files.extensions.append((files.root, ("x-a",)))
    assert ("x-a", "b") in [at.path for at in all_references(files)]


@each(
    "path,expected",
    [
        ((), True),
        (("paths",), True),
        (("paths", "/a", "get", "responses"), True),
        (("components", "responses"), False),
        (("a", "properties"), False),
        (("a", "items"), True),
    ],
)
def test_an_x_is_a_name_in_mappings_of_names(path: tuple[str, ...], expected: bool) -> None:
    assert is_extension(path) is expected
