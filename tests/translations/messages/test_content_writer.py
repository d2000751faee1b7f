"""Blocks of other languages -> the content of messages."""

from __future__ import annotations

from typing import Any

import pytest

from engine.translations.messages.content_writer import ContentWriter
from engine.translations.neutral.calls import ToolNames
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Signature,
    Source,
    Text,
    ToolResult,
    UploadedFile,
    inline,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.values.wildcard import Patterns
from tests.support.each import each


def write(*blocks: Block) -> tuple[Any, list[str]]:
    """The content, and the places of the losses: those of hints in brackets."""
    losses = Losses(Patterns(()))
    content = ContentWriter(ToolNames(), losses).content(blocks)
    return content, [f"({o.place})" if o.hint else o.place for o in losses.losses]


def written_source(kind: Any, source: Source) -> Any:
    content, losses = write(Media(kind=kind, source=source, place="p"))
    return content[0]["source"] if content else losses


@each(
    ("source", "media_type"),
    [
        (inline("image/png", "iVBORw0KGgo="), "image/png"),
        (inline("image/png", "/9j/4AAQ"), "image/jpeg"),
        (inline("image/jpg", "/9j/4AAQ"), "image/jpeg"),
        (inline("application/octet-stream", "R0lGODlh"), "image/gif"),
        (inline("image/png", "UklGRgAA"), "image/webp"),
        (inline("image/png", "AAAA"), "image/png"),
    ],
)
def test_an_image_has_the_type_that_it_begins_with(source: Inline, media_type: str) -> None:
    assert written_source("image", source) == {
        "type": "base64",
        "media_type": media_type,
        "data": source.data,
    }


@each(
    ("kind", "source", "expected"),
    [
        ("image", Link("https://a/b"), {"type": "url", "url": "https://a/b"}),
        ("image", Link("gs://a/b"), ["p"]),
        ("image", Inline("image/tiff", "SUkq"), ["p"]),
        ("image", UploadedFile(), ["p"]),
        ("image", PlainText("x"), ["p"]),
        ("audio", Inline("audio/wav", "UklG"), ["p"]),
        ("video", Link("https://a/b"), ["p"]),
        ("document", Link("https://a/b"), {"type": "url", "url": "https://a/b"}),
        (
            "document",
            Inline("application/pdf", "JVBE"),
            {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
        ),
        (
            "document",
            Inline("text/csv", "YSxi"),
            {"type": "text", "media_type": "text/plain", "data": "a,b"},
        ),
        (
            "document",
            PlainText("t"),
            {"type": "text", "media_type": "text/plain", "data": "t"},
        ),
        ("document", Inline("application/msword", "0M8R"), ["p"]),
    ],
)
def test_media(kind: str, source: Source, expected: Any) -> None:
    assert written_source(kind, source) == expected


def test_a_text_document_that_is_no_text_is_named() -> None:
    with pytest.raises(WrongType, match="'p'"):
        written_source("document", Inline("text/plain", "/w=="))


def test_a_document_has_its_name() -> None:
    (document,), _ = write(Media(kind="document", source=PlainText("t"), name="a.txt"))
    assert document["title"] == "a.txt"


@each(("detail", "losses"), [("low", ["(p.detail)"]), ("auto", []), ("", [])])
def test_how_closely_an_image_is_looked_at_cannot_be_said(detail: str, losses: list[str]) -> None:
    image = Media(kind="image", source=Link("https://a"), detail=detail, place="p")
    assert write(image)[1] == losses


@each(
    ("reasoning", "expected"),
    [
        (
            Reasoning(text="t", signature=Signature("messages", "s")),
            {"type": "thinking", "thinking": "t", "signature": "s"},
        ),
        (
            Reasoning(signature=Signature("messages", "redacted:d")),
            {"type": "redacted_thinking", "data": "d"},
        ),
    ],
)
def test_thoughts_of_this_vendor_return_to_it(reasoning: Reasoning, expected: Any) -> None:
    assert write(reasoning) == ([expected], [])


@each("signature", [None, Signature("gemini", "s")])
def test_other_thoughts_are_left_out_and_named(signature: Signature | None) -> None:
    assert write(Reasoning(text="t", signature=signature, place="p")) == ([], ["(p)"])


def test_words_of_refusal_are_what_the_model_said() -> None:
    assert write(Refusal(text="I can't.")) == ("I can't.", [])


def test_a_failed_result_says_so() -> None:
    result = ToolResult(id="1", content=[Text(text="no")], is_error=True)
    assert write(result)[0] == [
        {"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}
    ]


def test_a_result_may_have_images() -> None:
    image = Media(kind="image", source=Link("https://a"))
    content, _ = write(ToolResult(id="1", content=[Text(text="see"), image]))
    assert [block["type"] for block in content[0]["content"]] == ["text", "image"]


def test_a_block_of_another_vendor_is_a_loss() -> None:
    foreign = Foreign(kind="hologram", place="p")
    assert write(Text(text="a"), foreign) == ("a", ["p"])
