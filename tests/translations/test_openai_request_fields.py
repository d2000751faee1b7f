"""What requests in OpenAI's two languages have in common."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Source,
    Text,
    UploadedFile,
)
from engine.translations.neutral.members import Members, WrongType
from engine.translations.neutral.request import OutputFormat
from engine.translations.openai_request_fields import (
    read_file_data,
    read_schema,
    read_url,
    why_not,
    write_schema,
    write_url,
)
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
    with pytest.raises(WrongType) as caught:
        read_file_data(data, name, "p")
    assert caught.value.place == "p"


@each(
    "output",
    [
        OutputFormat(kind="json_schema", name="n", schema=Raw(b'{"a":1.0}')),
        OutputFormat(kind="json_schema", name="n", description="d", schema=Raw(b"{}"), strict=True),
    ],
)
def test_schemas_survive(output: OutputFormat) -> None:
    def encoded(value: Any) -> Any:
        return json.loads(bytes(value))

    written = {**write_schema(output), "schema": encoded(output.schema)}
    text = json.dumps(written, separators=(",", ":")).encode()
    assert read_schema(Members(text)) == output


@each(
    ("block", "reason"),
    [
        (Foreign(language="m", kind="bash", raw=Raw(b"{}")), "a block 'bash' is another vendor's"),
        (
            Media(kind="image", source=UploadedFile("f", "m")),
            "the file was uploaded to another vendor",
        ),
        (Media(kind="video", source=PNG), "the upstream takes no video here"),
        (
            Media(kind="document", source=Link("https://a")),
            "the upstream takes no document by URL here",
        ),
        (Text(text="a"), "the upstream has no form for it"),
    ],
)
def test_why_a_block_cannot_be_said(block: Block, reason: str) -> None:
    assert why_not(block) == reason
