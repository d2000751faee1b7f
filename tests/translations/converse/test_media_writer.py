"""Images, sounds, videos and documents."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from engine.translations.converse.media_writer import MediaWriter
from engine.translations.neutral.content import (
    Inline,
    Link,
    Media,
    PlainText,
    Source,
    UploadedFile,
)
from engine.translations.neutral.losses import Losses
from engine.values.wildcard import Patterns
from tests.support import bedrock
from tests.support.each import each

ALL = frozenset({"image", "audio", "video", "document"})
PNG = "iVBORw0KGgo="


def write(kind: Any, source: Source, **more: Any) -> tuple[Any, list[str]]:
    losses = Losses(Patterns(()))
    block = Media(kind=kind, source=source, place="m", **more)
    result = MediaWriter(losses, ALL).write(block)
    return result, [loss.reason for loss in losses.losses]


FORMATS = [
    ("image", Inline("image/png", PNG), "png"),
    ("image", Inline("image/jpeg", PNG), "png"),  # what it is, not what it is called
    ("image", Inline("image/webp", "AAAA"), "webp"),
    ("video", Inline("video/quicktime", "AAAA"), "mov"),
    ("video", Inline("video/3gpp", "AAAA"), "three_gp"),
    ("audio", Inline("audio/mpeg", "AAAA"), "mp3"),
    ("document", Inline("application/pdf", "AAAA"), "pdf"),
    ("document", Inline("text/markdown", "AAAA"), "md"),
    ("document", Inline("text/x-python", "AAAA"), "txt"),
    ("image", Link("s3://bucket/a.JPG"), "jpeg"),
    ("video", Link("s3://bucket/a", "video/mp4"), "mp4"),
    ("document", Link("s3://bucket/a.txt"), "txt"),
]


@each(("kind", "source", "word"), FORMATS)
def test_the_format_of_media(kind: str, source: Source, word: str) -> None:
    result, losses = write(kind, source)
    assert (result[kind]["format"], losses) == (word, [])
    place = {"bytes": source.data} if isinstance(source, Inline) else None
    assert result[kind]["source"] == (place or {"s3Location": {"uri": source.url}})  # type: ignore[union-attr]


@each("kind", ["image", "video", "audio", "document"])
def test_every_format_is_one_of_the_vendors_model(kind: str) -> None:
    shape = bedrock.service().shape_for(f"{kind.capitalize()}Format")
    for case_kind, source, word in FORMATS:
        if case_kind == kind:
            assert word in shape.enum, source


LOSSES = [
    ("image", Link("https://a.example/a.png"), "no links"),
    ("image", Link("s3://bucket/a"), "unknown type"),
    ("image", Inline("image/tiff", "AAAA"), "no image/tiff"),
    ("image", PlainText("x"), "text"),
    ("image", UploadedFile("f", "messages"), "another vendor"),
    ("document", Inline("application/zip", "AAAA"), "no application/zip"),
]


@each(("kind", "source", "reason"), LOSSES)
def test_what_cannot_be_sent_is_lost_with_its_reason(
    kind: str, source: Source, reason: str
) -> None:
    result, (losses,) = write(kind, source)
    assert result is None
    assert reason in losses


def test_a_kind_that_the_model_does_not_take_is_lost() -> None:
    losses = Losses(Patterns(()))
    block = Media(kind="audio", source=Inline("audio/wav", "AAAA"), place="m")
    assert MediaWriter(losses, frozenset({"image"})).write(block) is None
    assert losses.losses[0].reason == "the model takes no audio"


def test_a_text_is_a_document_with_its_bytes() -> None:
    result, _ = write("document", PlainText("Grüße"), name="a.txt")
    data = base64.b64encode("Grüße".encode()).decode()
    assert result == {"document": {"name": "a txt", "format": "txt", "source": {"bytes": data}}}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Report (2).pdf"], ["Report (2) pdf"]),
        (["", ""], ["document", "document 2"]),
        (["a", "a", "a 2"], ["a", "a 2", "a 2 2"]),
        (["x\n\ty  z"], ["x y z"]),
        (["日本"], ["document"]),
        (["n" * 300], ["n" * 190]),
    ],
)
def test_documents_have_legal_names_of_their_own(names: list[str], expected: list[str]) -> None:
    writer = MediaWriter(Losses(Patterns(())), ALL)
    blocks = [Media(kind="document", source=PlainText("x"), name=name) for name in names]
    result = [writer.write(block) for block in blocks]
    assert [each["document"]["name"] for each in result if each] == expected


def test_the_detail_of_an_image_is_a_hint() -> None:
    losses = Losses(Patterns(()))
    block = Media(kind="image", source=Inline("image/png", PNG), detail="high", place="m")
    assert MediaWriter(losses, ALL).write(block)
    assert [(each.place, each.hint) for each in losses.losses] == [("m.detail", True)]
