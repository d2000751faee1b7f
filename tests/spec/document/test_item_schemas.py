"""Sequences of items in requests (OpenAPI 3.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.operation import Operation
from tests.support.documents import causes, document, get, operations, read
from tests.support.each import each
from tests.support.swagger import refusal_of

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
    _, problems = read(tmp_path, text)
    places = [(p.line, p.column) for p in causes(problems) if p.code == "MW204"]
    assert places == [(9, 50)]
