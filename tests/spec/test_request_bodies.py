"""Request bodies by media type: parsed, checked, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.body import receive
from engine.exchange.exchange import MISSING
from engine.spec.operation import Operation
from engine.spec.request_bodies import Bodies, check
from engine.values.errors import GatewayError
from tests.support.documents import ask, causes, document, exchange, form_data, operations, read
from tests.support.each import each

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
SCHEMA = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "model": {"type": "string"},
        "n": {"type": "integer"},
        "file": {"type": "string", "format": "binary"},
    },
}


def made(folder: Path, *media_types: str, required: bool = True, **more: Any) -> Operation:
    content = {name: {"schema": SCHEMA, **more} for name in media_types}
    body = {"required": required, "content": content}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    return operations(folder, document(paths={"/x": {"post": post}}))["x"]


def refused(operation: Operation, body: Any, media_type: str = JSON) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        ask(operation, body, media_type)
    return caught.value


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
    operation = made(tmp_path, JSON)
    assert ask(operation, {"model": "m", "n": 1}, media_type) == {"model": "m", "n": 1}
    error = refused(operation, {"model": 5}, media_type)
    assert (error.status, error.param, error.code) == (400, "model", "invalid_type")


@each("media_type", ["application/vnd.x+json", "application/problem+json"])
def test_every_kind_of_json_is_json(tmp_path: Path, media_type: str) -> None:
    assert refused(made(tmp_path, media_type), {"n": 1}, media_type).param == "model"


@each(
    "body",
    [
        b"{",
        b"",
        b"{'a': 1}",
        b'{"a": 1}}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b"\xff\xfe",
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'\xef\xbb\xbf{"model": "m"}',
        b'{"a": 1,}',
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"[" * 1_000_000,
    ],
)
def test_what_is_no_json_is_a_400(tmp_path: Path, body: bytes) -> None:
    error = refused(made(tmp_path, JSON), body)
    assert error.status == 400
    assert error.code == ("invalid_json" if body else "missing_body")
    assert len(error.message) < 300


@each("depth", [10, 100, 900])
def test_a_deeply_nested_body_is_judged(tmp_path: Path, depth: int) -> None:
    body = b'{"model":"m","x":' + b"[" * depth + b"]" * depth + b"}"
    assert ask(made(tmp_path, JSON), body)["model"] == "m"


def test_a_form_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = made(tmp_path, FORM)
    assert ask(operation, b"model=a+b&n=5", FORM) == {"model": "a b", "n": 5}
    assert refused(operation, b"n=5", FORM).param == "model"
    assert refused(operation, b"model=a&n=x", FORM).param == "n"


@each("body", [b"model=%", b"model=%ff", b"model=\xff"])
def test_what_is_no_form_is_a_400(tmp_path: Path, body: bytes) -> None:
    error = refused(made(tmp_path, FORM), body, FORM)
    assert (error.status, error.code) == (400, "invalid_form")


def test_multipart_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = made(tmp_path, "multipart/form-data")
    fields = [["file", "RIFF", "a.wav", "audio/wav"], ["model", "m"], ["n", "5"]]
    assert ask(operation, *form_data(fields)) == {"file": "", "model": "m", "n": 5}
    assert refused(operation, *form_data(fields[:1])).param == "model"
    assert refused(operation, *form_data([["model", "m"], ["n", "x"]])).param == "n"


def test_the_parts_of_a_multipart_body_are_kept_for_writing(tmp_path: Path) -> None:
    body, content_type = form_data([["model", "m"]])
    request = exchange(body, content_type)
    made(tmp_path, "multipart/form-data").bodies.parse(request)
    (part,) = request.parts
    assert (part.name, body[part.start : part.end]) == ("model", b"m")
    assert request.media_type == "multipart/form-data"


@each(
    ("body", "content_type"),
    [
        (b"x", "multipart/form-data"),
        (b"x", "multipart/form-data; boundary="),
        (b"x", "multipart/form-data; boundary=b"),
        (b"--b\r\n\r\n", "multipart/form-data; boundary=b"),
        (b"--b--", "multipart/form-data; boundary=" + "b" * 200),
        (
            b'--b\r\nContent-Disposition: form-data; name="m"\r\n\r\nx',
            "multipart/form-data; boundary=b",
        ),
    ],
)
def test_what_is_no_multipart_is_a_400(tmp_path: Path, body: bytes, content_type: str) -> None:
    error = refused(made(tmp_path, "multipart/form-data"), body, content_type)
    assert (error.status, error.code) == (400, "invalid_multipart")


def test_any_other_media_type_is_relayed_as_it_is(tmp_path: Path) -> None:
    operation = made(tmp_path, "audio/wav", "application/xml")
    assert ask(operation, b"\xff\x00", "audio/wav") is MISSING
    assert ask(operation, b"\xff\x00", "application/xml; charset=x") is MISSING


@each(
    ("taken", "sent"),
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
    tmp_path: Path, taken: list[str], sent: str
) -> None:
    error = refused(made(tmp_path, *taken), b'{"model":"m"}', sent)
    assert (error.status, error.code) == (415, "unsupported_media_type")
    assert all(name in error.message for name in taken)


def test_a_long_media_type_is_cut(tmp_path: Path) -> None:
    assert len(refused(made(tmp_path, JSON), b"{}", "x" * 8000).message) < 300


@each(
    ("taken", "sent"),
    [("audio/*", "audio/wav"), ("*/*", "a/b"), ("application/*", "application/xml")],
)
def test_a_range_of_media_types_takes_what_is_in_it(tmp_path: Path, taken: str, sent: str) -> None:
    assert ask(made(tmp_path, taken), b"anything", sent) is MISSING


def test_the_most_exact_media_type_counts(tmp_path: Path) -> None:
    operation = made(tmp_path, "*/*", JSON, "application/*")
    assert refused(operation, {"model": 5}).param == "model"


def test_a_body_that_is_required_must_be_there(tmp_path: Path) -> None:
    error = refused(made(tmp_path, JSON), b"")
    assert (error.status, error.code) == (400, "missing_body")


def test_a_body_that_is_not_required_may_be_absent(tmp_path: Path) -> None:
    operation = made(tmp_path, JSON, required=False)
    assert ask(operation, b"") is MISSING
    assert ask(operation, b"", "") is MISSING
    assert refused(operation, {"n": 1}).param == "model"


def test_an_operation_without_a_body_takes_none(tmp_path: Path) -> None:
    get = {"operationId": "x", "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"get": get}}))["x"]
    assert ask(operation, b"", "") is MISSING
    error = refused(operation, {"a": 1})
    assert (error.status, error.code) == (400, "unexpected_body")


@each("media", [{}, {"schema": True}, {"schema": {}}])
def test_a_body_without_a_schema_is_parsed(tmp_path: Path, media: Any) -> None:
    body = {"content": {JSON: media}}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, [1]) == [1]
    assert refused(operation, b"{").code == "invalid_json"


def test_a_media_type_of_the_document_is_written_in_any_way(tmp_path: Path) -> None:
    operation = made(tmp_path, "Application/JSON; charset=utf-8")
    assert refused(operation, {"n": 1}).param == "model"


# Where nothing is checked, what can be parsed is parsed.


@each(
    ("body", "media_type", "value"),
    [(b"", JSON, MISSING), (b"x", "text/plain", MISSING), (b'{"n":1}', JSON, {"n": 1})],
)
def test_without_judgement_odd_bodies_pass(
    tmp_path: Path, body: bytes, media_type: str, value: Any
) -> None:
    request = exchange(body, media_type)
    made(tmp_path, JSON).bodies.parse(request, strict=False)
    assert request.value == value


def test_a_body_on_disk_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = made(tmp_path, JSON)
    data = json.dumps({"model": "m", "x": "y" * 1_100_000}).encode()

    class Input:
        at = 0

        def read(self, size: int, /) -> bytes:
            self.at += size
            return data[self.at - size : self.at]

    request = exchange(b"")
    request.body = receive(Input(), len(data), 10_000_000)
    assert request.body.whole is None
    rule = operation.bodies.parse(request)
    assert rule is not None
    check(rule, request.value)
    assert request.value["model"] == "m"
    request.body.close()


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


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Bodies:
    """The bodies of an operation that takes all three kinds."""
    return made(tmp_path_factory.mktemp("all"), JSON, FORM, "multipart/form-data").bodies


@given(
    body=st.binary(max_size=60),
    media_type=st.sampled_from([JSON, FORM, "multipart/form-data; boundary=b"]),
)
def test_any_bytes_are_parsed_or_a_400(every: Bodies, body: bytes, media_type: str) -> None:
    request = exchange(body, media_type)
    status = 200
    try:
        every.parse(request)
    except GatewayError as error:
        status = error.status
    assert status in (200, 400)


XML, BYTES = "application/xml", "application/octet-stream"


@each(
    ("declared", "sent"),
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
def test_json_under_a_range_is_checked(tmp_path: Path, declared: str, sent: str) -> None:
    operation = made(tmp_path, declared)
    assert ask(operation, {"model": "m", "n": 1}, sent) == {"model": "m", "n": 1}
    assert refused(operation, {"n": 1}, sent).param == "model"
    assert refused(operation, b"{", sent).code == "invalid_json"


@each("declared", ["*/*", "application/*"])
def test_a_form_under_a_range_is_checked(tmp_path: Path, declared: str) -> None:
    operation = made(tmp_path, declared)
    assert ask(operation, b"model=m&n=1", FORM) == {"model": "m", "n": 1}
    assert refused(operation, b"n=1", FORM).param == "model"
    assert refused(operation, b"model=m&n=x", FORM).param == "n"


@each("declared", ["*/*", "multipart/*"])
def test_a_multipart_form_under_a_range_is_checked(tmp_path: Path, declared: str) -> None:
    operation = made(tmp_path, declared)
    body, media_type = form_data([["model", "m"], ["n", "1"]])
    assert ask(operation, body, media_type) == {"model": "m", "n": 1}
    body, media_type = form_data([["n", "1"]])
    assert refused(operation, body, media_type).param == "model"


def test_text_under_a_range_is_no_way_around_its_schema(tmp_path: Path) -> None:
    assert refused(made(tmp_path, "*/*"), {"n": 1}, "text/plain").code == "invalid_type"


@each("sent", [XML, BYTES, "image/png", "text/xml", "application/*", "x"])
@each("body", [b"\xff", b'{"n": "x"}'])
def test_what_cannot_be_parsed_under_a_range_is_opaque(
    tmp_path: Path, sent: str, body: bytes
) -> None:
    operation = made(tmp_path, "*/*")
    if "*" in sent:
        assert refused(operation, body, sent).status == 415
    else:
        assert ask(operation, body, sent) is MISSING


def test_a_range_with_a_schema_wants_to_know_the_type(tmp_path: Path) -> None:
    error = refused(made(tmp_path, "*/*"), {"model": "m"}, "")
    assert (error.status, error.message) == (415, "Content-Type must be */*; got none.")


@each(
    "schema",
    [None, {}, True, {"type": "string", "format": "binary"}, {"contentMediaType": "image/png"}],
)
@each("sent", [JSON, FORM, "text/plain", BYTES, ""])
def test_a_file_under_a_range_may_be_of_any_type(tmp_path: Path, schema: Any, sent: str) -> None:
    media = {} if schema is None else {"schema": schema}
    body = {"content": {"*/*": media}}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, b"{ no JSON", sent) is MISSING


def test_the_narrowest_range_holds(tmp_path: Path) -> None:
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
    for sent, param in types.items():
        assert refused(operation, b"{}" if "json" in sent else b"a=b", sent).param == param
    assert [problem.code for problem in problems] == ["MW241"]


@each("media_type", ["text/plain", "text/*", "*/*"])
@each(
    ("schema", "right", "wrong"),
    [
        ({"type": "string", "maxLength": 3}, ["abc", "é"], ["abcd"]),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c"]),
        ({"type": "integer", "minimum": 5}, ["7"], ["x", "3"]),
        ({"type": "string", "format": "date"}, ["2027-01-31"], ["today"]),
    ],
)
def test_text_is_checked(
    tmp_path: Path, media_type: str, schema: Any, right: list[str], wrong: list[str]
) -> None:
    content = {media_type: {"schema": schema}}
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    specification, _ = read(tmp_path, document(paths={"/x": {"post": post}}))
    assert specification is not None
    for text in right:
        ask(specification.operations["x"], text.encode(), "text/plain; charset=utf-8")
    for text in wrong:
        refused(specification.operations["x"], text.encode(), "text/plain")


def test_text_without_demands_is_relayed_as_it_is(tmp_path: Path) -> None:
    content = {"text/plain": {"schema": {"type": "string", "description": "d"}}}
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, b"\xff", "text/plain") is MISSING


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
    (problem,) = [found for found in problems if found.code == "MW241"]
    assert problem.message.startswith("b and 1 more operations: bodies under '*/*' and 'applica")
