"""The names of the document and snake case mean the same."""

from __future__ import annotations

import json

from engine.translations import language
from engine.translations.generate_content.part_fields import (
    SEAL_BASE64,
    UNSIGNED,
    Blob,
    Fields,
    FileData,
    inline_media,
    linked_media,
    without_seals,
)
from engine.translations.neutral.content import Inline, Link, UploadedFile
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from tests.support.each import each

LINE = RequestLine(model="m")


def test_a_request_in_snake_case_is_the_same_as_in_the_document() -> None:
    snake = b"""{"system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "QQ=="}},
        {"function_response": {"name": "a", "response": {"a_b": {"c_d": 1}}}}]}],
        "generation_config": {"max_output_tokens": 5}}"""
    camel = b"""{"systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
        {"functionResponse": {"name": "a", "response": {"a_b": {"c_d": 1}}}}]}],
        "generationConfig": {"maxOutputTokens": 5}}"""
    translation = Translation(language("generate_content"), language("messages"))
    target_requests = [
        translation.request(body, LINE, "m", LossRules()).target_request for body in (snake, camel)
    ]
    assert target_requests[0] == target_requests[1]


def test_the_documented_name_counts_where_a_member_is_there_under_both() -> None:
    fields = Fields(b'{"mime_type": "a", "mimeType": "b", "_private_name": "c"}')
    assert fields.text("mimeType") == "b"
    assert set(fields.rest()) == {"mime_type", "_privateName"}


def blob(**members: object) -> Blob:
    return Blob.read(json.dumps(members).encode(), "", [])


@each(
    ("media_type", "kind"),
    [
        ("image/png", "image"),
        ("IMAGE/PNG", "image"),
        ("audio/wav", "audio"),
        ("video/mp4", "video"),
        ("application/pdf", "document"),
        ("text/plain", "document"),
        ("", "document"),
    ],
)
def test_the_media_type_tells_the_kind(media_type: str, kind: str) -> None:
    assert inline_media(blob(mimeType=media_type, data="AA==")).kind == kind


@each(
    ("data", "standard"),
    [("-_8=", "+/8="), ("-_8", "+/8="), ("AA==", "AA=="), ("AAAA", "AAAA"), ("", ""), (None, "")],
)
def test_base64_has_the_alphabet_and_the_padding_of_other_vendors(
    data: str | None, standard: str
) -> None:
    media = inline_media(blob(mime_type="image/png", data=data, displayName="a"))
    assert (media.source, media.name) == (Inline("image/png", standard), "a")


@each(
    ("uri", "is_uploaded"),
    [
        ("gs://bucket/file", True),
        ("https://generativelanguage.googleapis.com/v1beta/files/abc", True),
        ("https://www.youtube.com/watch?v=1", True),
        ("https://youtu.be/1", True),
        ("https://example.com/gs://", False),
        ("https://www.youtube.com.example.com/", False),
    ],
)
def test_a_uri_of_the_vendors_is_no_link(uri: str, is_uploaded: bool) -> None:
    members = {"fileUri": uri, "mimeType": "video/mp4"}
    media = linked_media(FileData.read(json.dumps(members).encode(), "", []))
    assert media.source == (UploadedFile() if is_uploaded else Link(uri, "video/mp4"))


def test_seals_are_removed_wherever_they_stand_in_a_turn() -> None:
    parts = [
        {"text": "a"},
        {"text": "b", "thoughtSignature": SEAL_BASE64},
        {"text": "of Gemini", "thoughtSignature": "Z2VtaW5p"},
        {"thought": True, "text": "c", "thought_signature": SEAL_BASE64},
        {"functionCall": {"name": "f"}, "thoughtSignature": SEAL_BASE64},
    ]
    request = {"contents": [{"parts": parts}, {"parts": [parts[3]]}]}
    place = ("contents", 0, "parts")
    assert without_seals(request) == {
        (*place, 1, "thoughtSignature"): None,
        (*place, 3): None,
        (*place, 4, "thoughtSignature"): json.dumps(UNSIGNED).encode(),
        ("contents", 1): None,
    }
