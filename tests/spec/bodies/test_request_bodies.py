"""Request bodies by media type: parsed, checked, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.exchange.exchange import MISSING
from tests.support.bodies import FORM, JSON, body_refusal, taking
from tests.support.documents import ask, document, exchange, form_data, operations, read
from tests.support.each import each


@each(
    "media_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;",
        " application/json ",
    ],
)
def test_json_is_parsed_and_checked(tmp_path: Path, media_type: str) -> None:
    operation = taking(tmp_path, JSON)
    assert ask(operation, {"model": "m", "n": 1}, media_type) == {"model": "m", "n": 1}
    error = body_refusal(operation, {"model": 5}, media_type)
    assert (error.status, error.param, error.code) == (400, "model", "invalid_type")


@each("media_type", ["application/vnd.x+json", "application/problem+json"])
def test_every_kind_of_json_is_json(tmp_path: Path, media_type: str) -> None:
    assert body_refusal(taking(tmp_path, media_type), {"n": 1}, media_type).param == "model"


@each(
    ("declared", "are_json"),
    [
        ([JSON, "application/vnd.x+json"], True),
        ([JSON, FORM], False),
        ([JSON, "audio/wav"], False),
        (["application/*"], False),
    ],
)
def test_bodies_that_are_parsed_as_json_only(
    tmp_path: Path, declared: list[str], are_json: bool
) -> None:
    assert taking(tmp_path, *declared).bodies.are_json == are_json


def test_any_other_media_type_is_relayed_as_it_is(tmp_path: Path) -> None:
    operation = taking(tmp_path, "audio/wav", "application/xml")
    assert ask(operation, b"\xff\x00", "audio/wav") is MISSING
    assert ask(operation, b"\xff\x00", "application/xml; charset=x") is MISSING


@each(
    ("declared", "media_type"),
    [
        ([JSON], "text/plain"),
        ([JSON], ""),
        ([JSON], "application/jsonx"),
        ([JSON], "application/json, text/plain"),
        ([JSON], "multipart/form-data; boundary=x"),
        ([JSON, FORM], "audio/wav"),
        (["audio/*"], "video/mp4"),
    ],
)
def test_a_media_type_that_is_not_taken_is_a_415(
    tmp_path: Path, declared: list[str], media_type: str
) -> None:
    error = body_refusal(taking(tmp_path, *declared), b'{"model":"m"}', media_type)
    assert (error.status, error.code) == (415, "unsupported_media_type")
    assert all(name in error.message for name in declared)


def test_a_long_media_type_is_cut(tmp_path: Path) -> None:
    assert len(body_refusal(taking(tmp_path, JSON), b"{}", "x" * 8000).message) < 300


@each(
    ("declared", "media_type"),
    [("audio/*", "audio/wav"), ("*/*", "a/b"), ("application/*", "application/xml")],
)
def test_a_range_of_media_types_takes_what_is_in_it(
    tmp_path: Path, declared: str, media_type: str
) -> None:
    assert ask(taking(tmp_path, declared), b"anything", media_type) is MISSING


def test_the_most_exact_media_type_counts(tmp_path: Path) -> None:
    operation = taking(tmp_path, "*/*", JSON, "application/*")
    assert body_refusal(operation, {"model": 5}).param == "model"


def test_a_body_that_is_required_must_be_there(tmp_path: Path) -> None:
    error = body_refusal(taking(tmp_path, JSON), b"")
    assert (error.status, error.code) == (400, "missing_body")


@each(
    ("media_type", "status"),
    [
        *((FORM, 200), (f"{FORM}; charset=UTF-8", 200), ("application/octet-stream", 200)),
        *(("text/plain", 200), ("application/xml", 400), (JSON, 400), ("", 400)),
        *(("multipart/form-data; boundary=x", 400), ("text/csv", 400), ("audio/wav", 200)),
    ],
)
def test_an_empty_form_text_or_file_is_a_body(tmp_path: Path, media_type: str, status: int) -> None:
    declared = [FORM, "application/octet-stream", "application/xml", JSON, "multipart/form-data"]
    content = {name: {"schema": {}} for name in (*declared, "text/plain")}
    body = {"required": True, "content": content}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    if status == 200:
        assert ask(operation, b"", media_type) in ({}, MISSING)
    else:
        assert body_refusal(operation, b"", media_type).code == "missing_body"


def test_an_empty_form_without_a_field_that_is_required_says_which(tmp_path: Path) -> None:
    assert body_refusal(taking(tmp_path, FORM), b"", FORM).param == "model"


@each(
    ("declared", "sent"),
    [
        *(("application/xml", "text/xml; charset=utf-8"), ("text/xml", "application/xml")),
        *(("audio/wav", "audio/x-wav"), ("image/jpeg", "image/jpg")),
        *(("text/yaml", "application/yaml"), ("application/jsonl", "application/x-ndjson")),
    ],
)
def test_a_media_type_has_several_names(tmp_path: Path, declared: str, sent: str) -> None:
    assert ask(taking(tmp_path, declared), b"a: 1", sent) in (MISSING, "a: 1")


@each(
    ("declared", "sent", "is_accepted"),
    [
        *((JSON, "application/vnd.api+json", True), ("application/fhir+json", JSON, True)),
        *((JSON, "text/plain", False), (FORM, JSON, False), (JSON, "", False)),
    ],
)
def test_a_lenient_operation_takes_any_kind_of_json(
    tmp_path: Path, declared: str, sent: str, is_accepted: bool
) -> None:
    post = {"operationId": "x", "requestBody": {"content": {declared: {"schema": {}}}}}
    specification, _ = read(tmp_path, document(paths={"/x": {"post": post}}))
    assert specification is not None
    strict = specification.operations["x"]
    lenient = specification.recompile(strict, lenient=True, with_names=False)
    assert body_refusal(strict, b"{}", sent).status == 415
    if is_accepted:
        assert ask(lenient, b"{}", sent) == {}
    else:
        assert body_refusal(lenient, b"{}", sent).status == 415


def test_a_body_that_is_not_required_may_be_absent(tmp_path: Path) -> None:
    operation = taking(tmp_path, JSON, required=False)
    assert ask(operation, b"") is MISSING
    assert ask(operation, b"", "") is MISSING
    assert body_refusal(operation, {"n": 1}).param == "model"


def test_an_operation_without_a_body_takes_none(tmp_path: Path) -> None:
    get = {"operationId": "x", "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"get": get}}))["x"]
    assert ask(operation, b"", "") is MISSING
    error = body_refusal(operation, {"a": 1})
    assert (error.status, error.code) == (400, "unexpected_body")
    assert ask(operation, b" { }\r\n") is MISSING, "google-genai for Node sends it with DELETE"
    for body in (b"[]", b"null", b"{}{}", b"{" + b" " * 20 + b"}"):
        assert body_refusal(operation, body).code == "unexpected_body"


# Where nothing is checked, what can be parsed is parsed.


@each(
    ("body", "media_type", "value"),
    [(b"", JSON, MISSING), (b"x", "text/plain", MISSING), (b'{"n":1}', JSON, {"n": 1})],
)
def test_unless_strict_unusual_bodies_pass(
    tmp_path: Path, body: bytes, media_type: str, value: Any
) -> None:
    request = exchange(body, media_type)
    taking(tmp_path, JSON).bodies.parse(request, strict=False)
    assert request.content.value == value


XML, BYTES = "application/xml", "application/octet-stream"


def test_the_parts_of_a_form_are_known_after_parsing(tmp_path: Path) -> None:
    request = exchange(*form_data([["model", "m"], ["n", "x"]]))
    taking(tmp_path, "multipart/form-data").bodies.parse(request)
    assert [part.name for part in request.content.parts] == ["model", "n"]


@each(
    ("media_types", "is_taken"),
    [([BYTES], True), ([BYTES, "image/png"], True), (["image/png"], False), ([BYTES, JSON], False)],
)
def test_bytes_need_no_content_type_where_the_operation_takes_nothing_else(
    tmp_path: Path, media_types: list[str], is_taken: bool
) -> None:
    operation = taking(tmp_path, *media_types)
    if is_taken:
        assert ask(operation, b"\xff", "") is MISSING
    else:
        assert body_refusal(operation, b"\xff", "").status == 415
