"""What is compiled of request bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.exchange.exchange import MISSING
from tests.support.bodies import FORM, JSON, body_refusal, taking
from tests.support.documents import ask, causes, document, form_data, operations, read
from tests.support.each import each


@each("media", [{}, {"schema": True}, {"schema": {}}])
def test_a_body_without_a_schema_is_parsed(tmp_path: Path, media: Any) -> None:
    body = {"content": {JSON: media}}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, [1]) == [1]
    assert body_refusal(operation, b"{").code == "invalid_json"


def test_a_media_type_of_the_document_is_written_in_any_way(tmp_path: Path) -> None:
    operation = taking(tmp_path, "Application/JSON; charset=utf-8")
    assert body_refusal(operation, {"n": 1}).param == "model"


def test_a_broken_schema_of_a_body_is_placed(tmp_path: Path) -> None:
    text = (
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n  /x:\n    post:\n"
        "      operationId: x\n      responses: {}\n      requestBody:\n        content:\n"
        "          application/json:\n            schema: {type: strin}\n"
    )
    _, problems = read(tmp_path, text)
    (problem,) = causes(problems)
    assert problem.code == "MW204"
    assert problem.line >= 8


XML, BYTES = "application/xml", "application/octet-stream"


@each(
    ("declared", "media_type"),
    [
        ("*/*", JSON),
        ("*/*", "application/merge-patch+json"),
        ("*/*", "text/json"),
        ("application/*", JSON),
        ("application/*", "application/vnd.x+json; charset=utf-8"),
        ("application/*+json", "application/merge-patch+json"),
        ("text/*", "text/json"),
        ("text/json", "text/json"),
    ],
)
def test_json_under_a_range_is_checked(tmp_path: Path, declared: str, media_type: str) -> None:
    operation = taking(tmp_path, declared)
    assert ask(operation, {"model": "m", "n": 1}, media_type) == {"model": "m", "n": 1}
    assert body_refusal(operation, {"n": 1}, media_type).param == "model"
    assert body_refusal(operation, b"{", media_type).code == "invalid_json"


@each("declared", ["*/*", "application/*"])
def test_a_form_under_a_range_is_checked(tmp_path: Path, declared: str) -> None:
    operation = taking(tmp_path, declared)
    assert ask(operation, b"model=m&n=1", FORM) == {"model": "m", "n": 1}
    assert body_refusal(operation, b"n=1", FORM).param == "model"
    assert body_refusal(operation, b"model=m&n=x", FORM).param == "n"


@each("declared", ["*/*", "multipart/*"])
def test_a_multipart_form_under_a_range_is_checked(tmp_path: Path, declared: str) -> None:
    operation = taking(tmp_path, declared)
    body, media_type = form_data([["model", "m"], ["n", "1"]])
    assert ask(operation, body, media_type) == {"model": "m", "n": 1}
    body, media_type = form_data([["n", "1"]])
    assert body_refusal(operation, body, media_type).param == "model"


def test_text_under_a_range_is_refused_by_a_schema_of_objects(tmp_path: Path) -> None:
    assert body_refusal(taking(tmp_path, "*/*"), {"n": 1}, "text/plain").code == "invalid_type"


@each("media_type", [XML, BYTES, "image/png", "text/xml", "application/*", "x"])
@each("body", [b"\xff", b'{"n": "x"}'])
def test_under_a_media_range_other_media_types_are_not_parsed(
    tmp_path: Path, media_type: str, body: bytes
) -> None:
    operation = taking(tmp_path, "*/*")
    if "*" in media_type:
        assert body_refusal(operation, body, media_type).status == 415
    else:
        assert ask(operation, body, media_type) is MISSING


def test_a_range_with_a_schema_requires_a_content_type(tmp_path: Path) -> None:
    error = body_refusal(taking(tmp_path, "*/*"), {"model": "m"}, "")
    assert (error.status, error.message) == (
        415,
        "The request needs a Content-Type, */*; it has none.",
    )


@each(
    "schema",
    [None, {}, True, {"type": "string", "format": "binary"}, {"contentMediaType": "image/png"}],
)
@each("media_type", [JSON, FORM, "text/plain", BYTES, ""])
def test_a_file_under_a_range_may_be_of_any_type(
    tmp_path: Path, schema: Any, media_type: str
) -> None:
    media = {} if schema is None else {"schema": schema}
    body = {"content": {"*/*": media}}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, b"{ no JSON", media_type) is MISSING


def test_the_narrowest_range_applies(tmp_path: Path) -> None:
    content: Any = {
        "*/*": {"schema": {"type": "object", "required": ["any"]}},
        "application/*": {"schema": {"type": "object", "required": ["application"]}},
        "application/*+json": {"schema": {"type": "object", "required": ["suffix"]}},
        JSON: {"schema": {"type": "object", "required": ["exact"]}},
    }
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    specification, problems = read(tmp_path, document(paths={"/x": {"post": post}}))
    assert specification is not None
    (operation,) = specification.operations.values()
    types = {JSON: "exact", "application/a+json": "suffix", FORM: "application", "text/json": "any"}
    for media_type, param in types.items():
        assert (
            body_refusal(operation, b"{}" if "json" in media_type else b"a=b", media_type).param
            == param
        )
    assert [problem.code for problem in problems] == ["MW241"]


def test_one_warning_names_all_unchecked_bodies_of_a_range(tmp_path: Path) -> None:
    def post(name: str, *ranges: str, **schema: Any) -> Any:
        content = {range_: {"schema": schema or {"type": "object"}} for range_ in ranges}
        return {"post": {"operationId": name, "requestBody": {"content": content}, "responses": {}}}

    paths = {
        "/a": post("a", "*/*", format="binary"),
        "/b": post("b", "*/*"),
        "/c": post("c", JSON, "application/*"),
    }
    _, problems = read(tmp_path, document(paths=paths))
    (problem,) = [note for note in problems if note.code == "MW241"]
    assert problem.message.startswith("b and 1 more operation: bodies under '*/*' and 'applica")
