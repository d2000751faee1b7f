"""Parts of a content in the words of another format."""

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
    PlainText,
    Refusal,
    Text,
    UploadedFile,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request_json import UnknownObject
from engine.translations.vendors.other_parts import read_other_part
from tests.support.each import each

Json = dict[str, Any]
URL = "https://a.test/b"
PIXEL, PNG = "data:image/png;base64,iVBO", Inline("image/png", "iVBO")
CLIP, MP4 = "data:video/mp4;base64,AAAA", Inline("video/mp4", "AAAA")
PAGE, PDF = "data:application/pdf;base64,JVBERi0=", Inline("application/pdf", "JVBERi0=")
BYTES = {"type": "base64", "media_type": "image/PNG", "data": "iVBO"}
AS_TEXT = {"type": "text", "media_type": "text/plain", "data": "Hi"}
IMAGE, UPLOADED = Media(kind="image", source=PNG), UploadedFile()
LINKED = Media(kind="image", source=Link(URL), detail="low")


def read(part: Json) -> tuple[Block, list[str]]:
    unread: list[str] = []
    unknown = UnknownObject(mark=None, kind=part.get("type"))  # type: ignore[arg-type]
    members = {name: Raw(json.dumps(value).encode()) for name, value in part.items()}
    vars(unknown).update(extra=members)
    return read_other_part(unknown, "p", unread, "content."), unread


@each(
    ("part", "block"),
    [
        ({"type": "input_text", "text": "Hi"}, Text(text="Hi")),
        ({"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}, Text(text="Hi")),
        ({"type": "refusal", "refusal": "No."}, Refusal(text="No.")),
        ({"type": "image_url", "image_url": {"url": PIXEL}}, IMAGE),
        ({"type": "image_url", "image_url": PIXEL}, IMAGE),
        ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}}, LINKED),
        ({"type": "input_image", "image_url": URL, "detail": "low"}, LINKED),
        ({"type": "input_image", "image_url": {"url": URL, "detail": "low"}}, LINKED),
        ({"type": "input_image", "file_id": "f"}, Media(kind="image", source=UPLOADED)),
        ({"type": "video_url", "video_url": {"url": CLIP}}, Media(kind="video", source=MP4)),
        ({"type": "audio_url", "audio_url": URL}, Media(kind="audio", source=Link(URL))),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            Media(kind="audio", source=Inline("audio/wav", "AAAA")),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": PAGE}},
            Media(kind="document", source=PDF, name="a.pdf"),
        ),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": PAGE},
            Media(kind="document", source=PDF, name="a.pdf"),
        ),
        ({"type": "input_file", "file_url": URL}, Media(kind="document", source=Link(URL))),
        ({"type": "file", "file": {"file_id": "f"}}, Media(kind="document", source=UPLOADED)),
        ({"type": "image", "source": BYTES}, IMAGE),
        (
            {"type": "document", "source": AS_TEXT, "title": "a", "citations": {"enabled": False}},
            Media(kind="document", source=PlainText("Hi"), name="a", name_place="p.title"),
        ),
        (
            {"type": "document", "source": {"type": "url", "url": URL}},
            Media(kind="document", source=Link(URL, "application/pdf")),
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            Media(kind="image", source=UPLOADED),
        ),
        (
            {
                "type": "search_result",
                "title": "Walls",
                "source": "https://a",
                "content": [{"type": "text", "text": "Red"}, {"type": "text", "text": "Blue"}],
            },
            Text(text="Walls\nhttps://a\nRed\nBlue"),
        ),
    ],
)
def test_parts_of_other_formats(part: Json, block: Block) -> None:
    assert read(part) == (block, [])


@each(
    "part",
    [
        {"type": "novel", "novel": 1},
        {"type": "image", "image": PIXEL},
        {"type": "document", "source": {"type": "content", "content": []}},
        {"type": "image", "source": {**BYTES, "novel": 1}},
    ],
)
def test_what_only_one_vendor_has_stays_its_own(part: Json) -> None:
    assert read(part) == (Foreign(kind=f"content.{part['type']}"), [])


@each(
    ("part", "unread"),
    [
        ({"type": "video_url", "video_url": {"url": URL, "fps": 2}}, ["p.video_url.fps"]),
        ({"type": "video_url", "video_url": URL, "fps": 2}, ["p.fps"]),
        ({"type": "input_image", "image_url": URL, "file_id": "f"}, ["p.file_id"]),
        ({"type": "file", "file": {"file_data": PAGE, "file_id": "f"}}, ["p.file.file_id"]),
        (
            {"type": "document", "source": AS_TEXT, "citations": {"enabled": True}},
            ["p.citations"],
        ),
    ],
)
def test_other_members_are_noted(part: Json, unread: list[str]) -> None:
    assert read(part)[1] == unread


@each(
    ("part", "place"),
    [
        ({"type": "image_url"}, "p.image_url"),
        ({"type": "image_url", "image_url": {}}, "p.image_url.url"),
        ({"type": "image_url", "image_url": 7}, "p.image_url"),
        ({"type": "video_url", "video_url": "data:x"}, "p.video_url"),
        ({"type": "input_audio"}, "p.input_audio"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, "p.input_audio.format"),
        ({"type": "file", "file": {}}, "p.file.file_id"),
        ({"type": "input_text", "text": 7}, "p.text"),
        ({"type": "image", "source": "x"}, "p.source"),
    ],
)
def test_a_content_that_is_none_is_named(part: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(part)
    assert excinfo.value.place == place
