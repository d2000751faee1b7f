"""JSON responses held against their document."""

from __future__ import annotations

from typing import Any

from engine.spec.bodies.response_schemas import ResponseValidators, compile_responses
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.json_schema_files import Purpose
from tests.support.documents import document, library
from tests.support.each import each


def validators(**responses: Any) -> ResponseValidators:
    paths = {"/x": {"get": {"operationId": "x", "responses": responses}}}
    files = library(document(paths=paths))
    operation = files.document.get("paths").get("/x").get("get")
    return compile_responses(operation, Schemas(files, Purpose.RESPONSE))


def response(kind: str, media_type: str = "application/json") -> Any:
    return {"content": {media_type: {"schema": {"type": kind}}}}


@each(
    ("status", "body", "code"),
    [
        (200, b"1", None),
        (200, b'"a"', "invalid_type"),
        (200, b"{", "invalid_json"),
        (404, b'"a"', None),
        (404, b"1", "invalid_type"),
        (500, b"true", None),
        (500, b"1", "invalid_type"),
    ],
)
def test_the_status_selects_the_schema(status: int, body: bytes, code: str | None) -> None:
    by_status = {
        "200": response("integer"),
        "4XX": response("string"),
        "default": response("boolean"),
    }
    refusal = validators(**by_status).check(status, body)
    assert (refusal and refusal.code) == code


def test_a_response_without_a_json_schema_is_not_described() -> None:
    described = validators(**{"200": response("string", "text/plain"), "201": {"description": "d"}})
    assert not described.describes(200)
    assert not described.describes(201)
    assert described.check(200, b"not JSON") is None


EVENT = {
    "type": "object",
    "required": ["event"],
    "properties": {"data": {"contentSchema": {"type": "object", "required": ["n"]}}},
}


def items(media_type: str, schema: Any) -> ResponseValidators:
    return validators(**{"2XX": {"content": {media_type: {"itemSchema": schema}}}})


@each(
    ("status", "kind", "body", "places"),
    [
        (200, "events", b'event: a\ndata: {"n": 1}\n\n', []),
        (200, "events", b'data: {"n": 1}\n\n', ["event"]),
        (200, "events", b"event: a\ndata: {}\n\nevent: b\ndata: x\n\n", ["data.n", "data"]),
        (200, "lines", b"{}", []),
        (500, "events", b"data: x\n\n", []),
    ],
)
def test_each_event_of_a_response_is_checked(
    status: int, kind: str, body: bytes, places: list[str]
) -> None:
    found = items("text/event-stream", EVENT).check_items(status, kind, body, truncated=False)
    assert [refusal.param for refusal in found] == places


def test_each_line_of_a_response_is_checked() -> None:
    answers = items("application/jsonl", {"type": "integer"})
    assert answers.check_items(200, "lines", b"1\n2\n", truncated=False) == []
    codes = [r.code for r in answers.check_items(200, "lines", b'1\n"a"\n', truncated=False)]
    assert codes == ["invalid_type"]
    codes = [r.code for r in answers.check_items(200, "lines", b"1\n{", truncated=False)]
    assert codes == ["invalid_json"]
    assert answers.check_items(200, "lines", b"1\n{", truncated=True) == []
