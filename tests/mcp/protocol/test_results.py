"""Answers of operations as results of tools."""

import base64
import json

from engine.mcp.protocol.results import (
    MAX_RESULT,
    Answer,
    json_result,
    result_of,
    text_result,
)
from tests.support.each import each


def answer(body=b"", media_type="application/json", status=200, **more):
    headers = [("content-type", media_type)] if media_type else []
    return Answer(status, [*headers, *more.pop("headers", ())], body, **more)


def text_of(result):
    assert result.content[0]["type"] == "text"
    return result.content[0]["text"]


@each(
    "body, is_object",
    [(b'{"a": 1}', True), (b"[1]", False), (b"null", False), (b"5", False)],
)
def test_json_is_structured_and_text(body, is_object):
    result = result_of(answer(body), "show")
    assert (result.structured, result.is_object, result.is_error) == (body, is_object, False)
    assert text_of(result) == body.decode()


@each(
    "media_type, body, text",
    [
        ("text/plain; charset=utf-8", "größe".encode(), "größe"),
        ("application/problem+xml", b"<a/>", "<a/>"),
        ("application/x-ndjson", b"1\n2\n", "1\n2\n"),
        ("image/svg+xml", b"<svg/>", "<svg/>"),
        ("text/html", b"\xff", "\ufffd"),
        ("application/json", b"{", "{"),
        ("application/json", b"\xff", "\ufffd"),
        ("text/event-stream", b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', "x"),
    ],
)
def test_text_is_text(media_type, body, text):
    result = result_of(answer(body, media_type), "show")
    assert (text_of(result), result.structured, result.is_error) == (text, b"", False)


def test_images_and_audio_have_content_of_their_kind():
    data = base64.b64encode(b"\x89PNG").decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    assert [*result_of(answer(b"\x89PNG", "image/png"), "show").content] == [image]
    assert result_of(answer(b"RIFF", "audio/wav"), "say").content[0]["type"] == "audio"


@each("media_type", ["application/pdf", "application/octet-stream", "", "video/mp4"])
def test_other_bytes_are_an_embedded_resource(media_type):
    text, resource = result_of(answer(b"\x00\x01", media_type), "report").content
    assert text["text"].startswith("report returned 2 bytes of ")
    assert resource["type"] == "resource"
    assert base64.b64decode(resource["resource"]["blob"]) == b"\x00\x01"
    assert resource["resource"]["mimeType"] == media_type or "application/octet-stream"


def test_an_answer_without_a_body_says_its_status():
    assert text_of(result_of(answer(status=204, media_type=""), "drop")) == "HTTP 204, no body"
    moved = answer(status=303, headers=[("location", "/jobs/1")])
    assert text_of(result_of(moved, "start")) == "HTTP 303, no body, location: /jobs/1"


@each(
    "body, text",
    [
        (
            b'{"error":{"message":"Missing: sku.","param":"items[0].sku","code":"x","type":"y"}}',
            "HTTP 400 items[0].sku: Missing: sku.",
        ),
        (b'{"error":{"message":"No.","param":"","code":"x"}}', "HTTP 400: No."),
        (
            b'{"error":{"message":"No.","more":[1]}}',
            'HTTP 400\n{"error":{"message":"No.","more":[1]}}',
        ),
        (b'{"detail":"gone"}', 'HTTP 400\n{"detail":"gone"}'),
        (b"oops", "HTTP 400\noops"),
        (b"[1]", "HTTP 400\n[1]"),
        (b"", "HTTP 400"),
    ],
)
def test_an_answer_of_4xx_or_5xx_is_an_error_of_the_tool_with_its_place(body, text):
    result = result_of(answer(body, status=400), "create")
    assert (text_of(result), result.is_error, result.structured) == (text, True, b"")


def test_an_error_says_when_to_try_again():
    limited = answer(b'{"error":{"message":"Slow."}}', status=429, headers=[("retry-after", "7")])
    assert text_of(result_of(limited, "show")) == "HTTP 429, try again after 7 s: Slow."


def test_an_answer_that_is_too_large_is_its_beginning_and_a_link():
    large = answer(b"x" * MAX_RESULT, "text/plain", complete=False, size=100_000_000)
    result = result_of(large, "list")
    assert len(text_of(result)) < 20_000
    assert "(100000000 bytes)" in text_of(result)
    assert not result.is_error
    assert len(result.content) == 1
    linked = answer(b"\x00" * 9, "video/mp4", complete=False, link="https://gw/v?x=1")
    text, link = result_of(linked, "film").content
    assert "begins" not in text["text"]
    assert link == {
        "type": "resource_link",
        "uri": "https://gw/v?x=1",
        "name": "film",
        "mimeType": "video/mp4",
    }


def test_an_answer_that_broke_off_is_an_error_with_what_has_arrived():
    result = result_of(answer(b'{"a":', broke_off=True), "show")
    assert result.is_error
    assert text_of(result) == 'The answer broke off after 5 bytes.\n{"a":'


@each("media_type, body", [("text/plain", b"x"), ("", b""), ("application/json", b"{")])
def test_without_the_structure_that_a_schema_promises_a_result_is_an_error(media_type, body):
    assert result_of(answer(body, media_type), "show", needs_structure=True).is_error
    assert result_of(answer(body, media_type, complete=False), "x", needs_structure=True).is_error


def test_results_of_the_gateway_itself():
    assert text_result("no", is_error=True).is_error
    result = json_result({"tools": []})
    assert json.loads(result.structured) == json.loads(text_of(result)) == {"tools": []}
