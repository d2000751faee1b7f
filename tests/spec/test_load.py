"""Reading a document and the files it refers to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.source.problem import Findings
from engine.spec.load import load_and_repair
from engine.spec.operation import Operation
from tests.support.documents import causes, document, get, operations, repaired
from tests.support.documents import read as read_spec
from tests.support.each import each
from tests.support.libraries import read
from tests.support.swagger import refusal_of


@each(
    ("text", "words"),
    [
        ("", "not an OpenAPI document"),
        ("[]\n", "not an OpenAPI document"),
        ("just text\n", "not an OpenAPI document"),
        ("a: 1\n", "no 'openapi' key"),
        ("swagger: '1.2'\n", "'swagger' is '1.2'"),
        ("swagger: [2.0]\n", "'swagger' is [2.0]"),
        ("openapi: 3.10.0\n", "'3.10.0'"),
        ("openapi: 2.0.0\n", "'2.0.0'"),
        ("openapi: 4.0.0\n", "'4.0.0'"),
        ("openapi: null\n", "None"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    library, problems = read(tmp_path, api=text)
    assert library is None
    assert [p.code for p in problems] == ["MW201"]
    assert words in problems[0].message


@each("version", ["3.0", "'3.1'", "3.0.0", "3.0.3", "3.0.4", "3.1.0", "3.1.1", "3.2.0"])
def test_each_version_of_the_standard_is_read(tmp_path: Path, version: str) -> None:
    library, problems = read(tmp_path, api=f"openapi: {version}\n")
    assert library is not None
    assert problems == []


@each(("text", "code"), [("a: [\n", "MW001"), ("a: 1\na: 2\n", "MW003"), ("a: !x 1\n", "MW004")])
def test_text_that_is_not_yaml_is_refused(tmp_path: Path, text: str, code: str) -> None:
    library, problems = read(tmp_path, api=text)
    assert library is None
    assert code in [p.code for p in problems]


SWAGGER = """swagger: '2.0'
info: {title: Shop, version: '1'}
host: shop.example
paths:
  /a:
    get:
      parameters: [{name: kind, in: query, type: string}]
      responses: {'200': {description: Done}}
"""


def loaded(folder: Path, text: str):
    """What is read of a document, and the codes of its problems."""
    file, findings = folder / "api.yaml", Findings()
    file.write_text(text)
    library = load_and_repair(file, file.name, findings, ())
    return library, {problem.code for problem in findings.unsorted}


def test_an_older_document_is_read_as_openapi_3(tmp_path):
    library, _ = loaded(tmp_path, SWAGGER)
    (parameter,) = library.document.value["paths"]["/a"]["get"]["parameters"]
    assert parameter == {"name": "kind", "in": "query", "schema": {"type": "string"}}


def test_what_is_no_document_has_errors_and_no_library(tmp_path):
    assert loaded(tmp_path, "just: a mapping\n") == (None, {"MW201"})


def test_constraints_are_repaired_before_null_moves_them_into_a_branch() -> None:
    schema = {
        "nullable": True,
        "allOf": [{"type": "array"}],
        "required": ["a", "a"],
        "exclusiveMinimum": True,
        "minimum": 1,
    }
    inner = {"allOf": [{"type": "array"}], "required": ["a"], "exclusiveMinimum": 1}
    result, codes = repaired(schema)
    assert result == {"anyOf": [inner, {"type": "null"}]}
    assert sorted(codes) == ["MW221", "MW223", "MW224"]


def test_every_reference_to_an_anchor_is_repaired_before_the_anchor_is_removed() -> None:
    schema = {
        "$recursiveAnchor": True,
        "properties": {"a": {"$recursiveRef": "#"}, "b": {"items": {"$recursiveRef": "#"}}},
    }
    reference = {"$ref": "#/components/schemas/Root"}
    result, codes = repaired(schema)
    assert result == {"properties": {"a": reference, "b": {"items": reference}}}
    assert codes


def test_a_document_without_breaches_is_unchanged() -> None:
    schema = {"type": "object", "properties": {"nullable": {"type": "string"}}}
    assert repaired(schema) == (schema, [])


ITEM = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
LINES, RECORDS, EVENTS = "application/jsonl", "application/json-seq", "text/event-stream"


def sequence(folder: Path, media_type: str, media: Any, **more: Any) -> Operation:
    item = {"post": get(requestBody={"content": {media_type: media}})}
    value = document(version="3.2.0", paths={"/a": item}, **more)
    (result,) = operations(folder, value).values()
    return result


@each(
    ("media_type", "valid", "broken"),
    [
        (LINES, b'{"n": 1}\n{"n": 2}\n', b'{"n": 1}\n{"n": "x"}\n'),
        ("application/x-ndjson; v=1", b'{"n": 1}\n{"n": 2}', b'{"n": 1}\n{"n": "x"}'),
        (RECORDS, b'\x1e{"n": 1}\n\x1e{"n": 2}\n', b'\x1e{"n": 1}\n\x1e{"n": "x"}\n'),
        ("application/geo+json-seq", b'\x1e{"n": 1}', b'\x1e{"n": 1}\x1e{"n": []}'),
    ],
)
def test_each_item_is_validated(
    tmp_path: Path, media_type: str, valid: bytes, broken: bytes
) -> None:
    operation = sequence(tmp_path, media_type, {"itemSchema": ITEM})
    assert refusal_of(operation, valid, media_type) == ""
    assert "'[1].n'" in refusal_of(operation, broken, media_type)
    assert "item" in refusal_of(operation, valid + b"\x1e{", media_type)


def test_each_event_is_validated(tmp_path: Path) -> None:
    item = {"type": "object", "required": ["event"], "properties": {"retry": {"minimum": 5}}}
    operation = sequence(tmp_path, EVENTS, {"itemSchema": item})
    assert refusal_of(operation, b"event: a\ndata: 1\nretry: 5\n\n", EVENTS) == ""
    assert "retry" in refusal_of(operation, b"event: a\ndata: 1\nretry: 4\n\n", EVENTS)
    assert "event" in refusal_of(operation, b"data: 1\n\n", EVENTS)


def test_a_schema_describes_all_items(tmp_path: Path) -> None:
    operation = sequence(tmp_path, LINES, {"schema": {"type": "array", "minItems": 2}})
    assert refusal_of(operation, b"1\n2\n", LINES) == ""
    assert "2 items" in refusal_of(operation, b"1\n", LINES)


def test_both_schemas_count(tmp_path: Path) -> None:
    media = {"schema": {"minItems": 2}, "itemSchema": ITEM}
    operation = sequence(tmp_path, LINES, media)
    assert "2 items" in refusal_of(operation, b'{"n": 1}\n', LINES)
    assert "[1].n" in refusal_of(operation, b'{"n": 1}\n{}\n', LINES)


def test_a_media_type_may_be_a_component_of_several_operations(tmp_path: Path) -> None:
    media = {"$ref": "#/components/mediaTypes/Lines"}
    body = {"content": {LINES: media}}
    paths = {"/a": {"post": get(requestBody=body), "put": get("y", requestBody=body)}}
    components = {"mediaTypes": {"Lines": {"itemSchema": ITEM, "schema": {"minItems": 1}}}}
    value = document(version="3.2.0", paths=paths, components=components)
    for operation in operations(tmp_path, value).values():
        assert refusal_of(operation, b'{"n": 1}\n', LINES) == ""
        assert "[0].n" in refusal_of(operation, b"{}", LINES)


def test_an_item_schema_of_another_media_type_has_no_effect(tmp_path: Path) -> None:
    operation = sequence(tmp_path, "application/json", {"itemSchema": ITEM})
    assert refusal_of(operation, {"n": "x"}) == ""


def test_before_3_2_a_sequence_is_not_read(tmp_path: Path) -> None:
    item = {"post": get(requestBody={"content": {LINES: {"schema": {"type": "object"}}}})}
    (operation,) = operations(tmp_path, document(paths={"/a": item})).values()
    assert refusal_of(operation, b"{", LINES) == ""


def test_a_broken_schema_is_found_at_its_place(tmp_path: Path) -> None:
    text = """openapi: 3.2.0
info: {title: T, version: "1"}
paths:
  /a:
    post:
      operationId: a
      requestBody:
        content:
          application/jsonl: {itemSchema: {type: objec}}
      responses: {}
"""
    _, problems = read_spec(tmp_path, text)
    places = [(p.line, p.column) for p in causes(problems) if p.code == "MW204"]
    assert places == [(9, 50)]
