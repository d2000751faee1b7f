"""Bodies of JSON, forms, multipart and text as values."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.exchange import MISSING
from engine.exchange.request_body import IN_MEMORY
from engine.exchange.spooled_body import receive
from engine.spec.bodies.request_bodies import Bodies, check
from engine.values.errors import GatewayError
from tests.support.bodies import FORM, JSON, body_refusal, taking
from tests.support.documents import ask, document, exchange, form_data, operations, read
from tests.support.each import each


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
        b'\xef\xbb\xbf\xef\xbb\xbf{"model": "m"}',
        b"\xef\xbb\xbf{",
        b'{"a": 1,}',
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"[" * 1_000_000,
    ],
)
def test_a_body_that_is_not_json_is_a_400(tmp_path: Path, body: bytes) -> None:
    error = body_refusal(taking(tmp_path, JSON), body)
    assert error.status == 400
    assert error.code == ("invalid_json" if body else "missing_body")
    assert len(error.message) < 300


@each("size", [0, IN_MEMORY])
def test_the_byte_order_mark_of_json_is_left_out(tmp_path: Path, size: int) -> None:
    body = b'{"model": "m"}' + b" " * size
    request = exchange(BOM_UTF8 + body, JSON)
    assert taking(tmp_path, JSON).bodies.parse(request) is not None
    assert request.content.value == {"model": "m"}
    assert b"".join(request.body.chunks()) == body
    for end in request.on_end:
        end()


@each("depth", [10, 100, 900])
def test_a_deeply_nested_body_is_judged(tmp_path: Path, depth: int) -> None:
    body = b'{"model":"m","x":' + b"[" * depth + b"]" * depth + b"}"
    assert ask(taking(tmp_path, JSON), body)["model"] == "m"


def test_a_form_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = taking(tmp_path, FORM)
    assert ask(operation, b"model=a+b&n=5", FORM) == {"model": "a b", "n": 5}
    assert body_refusal(operation, b"n=5", FORM).param == "model"
    assert body_refusal(operation, b"model=a&n=x", FORM).param == "n"


@each("body", [b"model=%", b"model=%ff", b"model=\xff"])
def test_a_body_that_is_not_a_form_is_a_400(tmp_path: Path, body: bytes) -> None:
    error = body_refusal(taking(tmp_path, FORM), body, FORM)
    assert (error.status, error.code) == (400, "invalid_form")


def test_multipart_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = taking(tmp_path, "multipart/form-data")
    fields = [["file", "RIFF", "a.wav", "audio/wav"], ["model", "m"], ["n", "5"]]
    assert ask(operation, *form_data(fields)) == {"file": "", "model": "m", "n": 5}
    assert body_refusal(operation, *form_data(fields[:1])).param == "model"
    assert body_refusal(operation, *form_data([["model", "m"], ["n", "x"]])).param == "n"


def test_the_parts_of_a_multipart_body_are_kept_for_writing(tmp_path: Path) -> None:
    body, content_type = form_data([["model", "m"]])
    request = exchange(body, content_type)
    taking(tmp_path, "multipart/form-data").bodies.parse(request)
    (part,) = request.content.parts
    assert (part.name, body[part.start : part.end]) == ("model", b"m")
    assert request.content.media_type == "multipart/form-data"


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
def test_a_body_that_is_not_multipart_is_a_400(
    tmp_path: Path, body: bytes, content_type: str
) -> None:
    error = body_refusal(taking(tmp_path, "multipart/form-data"), body, content_type)
    assert (error.status, error.code) == (400, "invalid_multipart")


def test_a_body_on_disk_is_parsed_and_checked(tmp_path: Path) -> None:
    operation = taking(tmp_path, JSON)
    data = json.dumps({"model": "m", "x": "y" * 1_100_000}).encode()

    class Input:
        at = 0

        def read(self, size: int, /) -> bytes:
            self.at += size
            return data[self.at - size : self.at]

    request = exchange(b"")
    request.body = receive(Input(), len(data), 10_000_000)
    assert request.body.in_memory is None
    rule = operation.bodies.parse(request)
    assert rule is not None
    check(rule, request.content.value)
    assert request.content.value["model"] == "m"
    request.body.close()


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Bodies:
    """The bodies of an operation that takes all three kinds."""
    return taking(tmp_path_factory.mktemp("all"), JSON, FORM, "multipart/form-data").bodies


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
        body_refusal(specification.operations["x"], text.encode(), "text/plain")


def test_text_without_demands_is_relayed_as_it_is(tmp_path: Path) -> None:
    content = {"text/plain": {"schema": {"type": "string", "description": "d"}}}
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    assert ask(operation, b"\xff", "text/plain") is MISSING


@each("media_type", ["text/yaml", "text/csv", "text/plain"])
def test_a_text_of_which_the_schema_describes_an_object_is_relayed(
    tmp_path: Path, media_type: str
) -> None:
    assert ask(taking(tmp_path, media_type), b"model: m", media_type) is MISSING
