"""References of documents that have a URI of their own."""

from __future__ import annotations

from pathlib import Path

from tests.support.each import each
from tests.support.libraries import read

API = """openapi: 3.2.0
$self: {self}
info: {{title: T, version: "1"}}
paths: {{}}
components:
  schemas:
    A: {{type: string}}
    B: {{$ref: "{ref}"}}
"""
OTHER = "$self: https://other.example.org/types.yaml\n$defs: {T: {type: integer}}\n"
BASE = "https://example.com/apis/openapi.yaml"


def targets(folder: Path, own: str, ref: str) -> tuple[object, list[str]]:
    """The type of the schema that a reference leads to, and the codes of problems."""
    opened = "    C: {$ref: parts/other.yaml}\n"
    parts = {"parts__other": OTHER, "parts__near": "T: {type: boolean}\n"}
    library, problems = read(folder, api=API.format(self=own, ref=ref) + opened, **parts)
    assert library is not None
    schema = library.document.get("components").get("schemas").get("B")
    return schema.text("type"), [problem.code for problem in problems]


@each(
    ("own", "ref", "kind"),
    [
        (BASE, f"{BASE}#/components/schemas/A", "string"),
        (BASE, "openapi.yaml#/components/schemas/A", "string"),
        (BASE, "#/components/schemas/A", "string"),
        (BASE, "parts/near.yaml#/T", "boolean"),
        (BASE, "https://example.com/apis/parts/near.yaml#/T", "boolean"),
        (BASE, "/apis/parts/near.yaml#/T", "boolean"),
        ("/apis/openapi.yaml", "parts/near.yaml#/T", "boolean"),
        ("/apis/openapi.yaml", "/apis/parts/near.yaml#/T", "boolean"),
        (BASE, "//example.com/apis/parts/near.yaml#/T", "boolean"),
    ],
)
def test_a_reference_is_resolved_against_the_uri(
    tmp_path: Path, own: str, ref: str, kind: str
) -> None:
    assert targets(tmp_path, own, ref) == (kind, [])


def test_a_file_is_known_by_its_own_uri(tmp_path: Path) -> None:
    api = API.format(self=BASE, ref="parts/user.yaml#/U")
    user = "U: {$ref: 'https://other.example.org/types.yaml#/$defs/T'}\nV: {$ref: other.yaml}\n"
    first = "    C: {$ref: parts/other.yaml}\n"
    parts = {"parts__other": OTHER, "parts__user": user}
    library, problems = read(tmp_path, api=api + first, **parts)
    assert library is not None
    assert problems == []
    schema = library.document.get("components").get("schemas").get("B")
    assert schema.text("type") == "integer"


@each("ref", ["https://example.org/apis/parts/near.yaml#/T", "http://[", "missing.yaml"])
def test_any_other_file_is_missing(tmp_path: Path, ref: str) -> None:
    assert targets(tmp_path, BASE, ref) == ("", ["MW203"])


@each("own", ["''", "[]", "http://[", "1"])
def test_what_is_no_uri_has_no_effect(tmp_path: Path, own: str) -> None:
    assert targets(tmp_path, own, "parts/near.yaml#/T") == ("boolean", [])
