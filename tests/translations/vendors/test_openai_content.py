"""Contents in OpenAI's two languages: URLs, files, and why a block is not supported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.dialects.openai.usage import usage_of
from engine.translations.chat_completions import answer_fields as chat_fields
from engine.translations.neutral.content import (
    Inline,
    Link,
    Source,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.responses import answer_fields as responses_fields
from engine.translations.vendors.openai_content import (
    ERRORS,
    read_data_url,
    read_error,
    read_file_data,
    read_url,
    write_url,
)
from engine.values.usage import Usage
from tests.support.each import each

PNG = Inline("image/png", "iVBO")


@each(
    ("url", "source"),
    [
        ("https://a/b", Link("https://a/b")),
        ("data:image/png;base64,iVBO", PNG),
        ("DATA:image/PNG;charset=x;BASE64,iVBO", PNG),
        ("data:,a%20b", Inline("text/plain", "YSBi")),
    ],
)
def test_urls(url: str, source: Source) -> None:
    assert read_url(url, "p") == source


@each("source", [PNG, Link("https://a/b")])
def test_urls_survive(source: Inline | Link) -> None:
    assert read_url(write_url(source), "p") == source


@each(
    ("data", "name", "media_type"),
    [
        ("data:text/csv;base64,JVBERi0=", "a.pdf", "text/csv"),
        ("JVBERi0=", "", "application/pdf"),
        ("JVBERi0=", "a.txt", "application/pdf"),
        ("SGk=", "A.TXT", "text/plain"),
        ("SGk=", "a.b.html", "text/html"),
    ],
)
def test_data_of_files_are_data_urls_or_base64_alone(data: str, name: str, media_type: str) -> None:
    assert read_file_data(data, name, "p") == Inline(media_type, data.rpartition(",")[2])


@each(
    ("data", "name"),
    [
        ("SGk=", ""),
        ("SGk=", "a.unknown"),
        ("https://a/b", "a.pdf"),
        ("", "a.pdf"),
        ("JVBERi0?", "a.pdf"),
        ("data:application/pdf;base64,?", "a.pdf"),
    ],
)
def test_other_data_of_files_are_refused(data: str, name: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read_file_data(data, name, "p")
    assert excinfo.value.place == "p"


@each(
    ("url", "media_type", "data"),
    [
        ("data:image/png;base64,aGk=", "image/png", "aGk="),
        ("DATA:Image/PNG; charset=x ;BASE64,aGk=", "image/png", "aGk="),
        ("data:;base64,aGk=", "text/plain", "aGk="),
        ("data:;base64,%2B%2f8%3D", "text/plain", "+/8="),
        ("data:,h%69", "text/plain", "aGk="),
        ("data:text/html,a,b", "text/html", "YSxi"),
    ],
)
def test_a_data_url_has_a_media_type_and_a_content(url: str, media_type: str, data: str) -> None:
    assert read_data_url(url, "x") == Inline(media_type, data)


@each("url", ["data:image/png;base64", "data:a/b;base64,a", "data:a/b;base64,é", "data:a;base64,%"])
def test_a_broken_data_url_names_its_place(url: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read_data_url(url, "messages[0].content[1]")
    assert excinfo.value.place == "messages[0].content[1]"


def test_a_content_is_written_as_it_is_read() -> None:
    content = Inline("image/png", "aGk=")
    assert read_data_url(write_url(content), "x") == content


USAGE = Usage(input=9, output=4, cached=3, cache_write=1, reasoning=2, source="upstream")


@each("write", [chat_fields.write_counts, responses_fields.write_counts])
def test_usage_is_written_as_the_dialect_reads_it(write: Callable[[Usage], dict[str, Any]]) -> None:
    assert usage_of({"usage": write(USAGE)}) == USAGE
    assert write(USAGE)["total_tokens"] == 13


@each(
    ("document", "expected"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, ("m", "c")),
        ({"error": {"message": "m", "type": "t", "code": None}}, ("m", "t")),
        ({"error": {"message": "m", "type": "t", "code": 400}}, ("m", "t")),
        ({"error": "m"}, ("m", "")),
        ({"message": "m", "type": "t"}, ("m", "t")),
        ({"detail": "m"}, ("m", "")),
        ({"detail": [{"loc": []}]}, ("", "")),
        ({"error": {"message": {"a": 1}, "code": []}}, ("", "")),
        ({"type": "error", "message": "m", "code": None}, ("m", "")),
        ([], ("", "")),
        (None, ("", "")),
    ],
)
def test_errors(document: Any, expected: tuple[str, str]) -> None:
    error = read_error(418, document)
    assert (error.status, error.message, error.code) == (418, *expected)


@each(
    ("error", "status"),
    [
        ({"code": "rate_limit_exceeded"}, 429),
        ({"code": None, "type": "invalid_request_error"}, 400),
        ({"code": "new_word", "type": "authentication_error"}, 401),
        ({"code": "image_too_large"}, 400),
        ({"code": "invalid_image_url"}, 400),
        ({"code": "server_error"}, 500),
        ({"code": 503}, 503),
        ({"code": "503"}, 503),
        ({"code": 200}, 502),
        ({"code": "²²²"}, 502),
        ({"code": True}, 502),
        ("words", 502),
        (None, 502),
    ],
)
def test_the_code_of_an_error_inside_an_answer_says_its_status(error: Any, status: int) -> None:
    assert ERRORS.inside({"error": error}).status == status
