"""The parts of messages in responses requests -> blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    Refusal,
    Text,
    UploadedFile,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import ChatRequest
from engine.translations.responses.content_reader import read_content
from engine.translations.responses.request_reader import read_request
from engine.translations.vendors.openai_content import required
from tests.support.each import each

Json = dict[str, Any]

PART = "input[0].content[0]"


def request_with(part: Json, role: str = "user") -> ChatRequest:
    item = {"type": "message", "role": role, "content": [part]}
    return read_request(json.dumps({"model": "m", "input": [item]}).encode(), RequestLine())


def block_of(part: Json, role: str = "user") -> Any:
    (message,) = request_with(part, role).messages
    (block,) = message.blocks
    return block


@each(
    ("content", "block"),
    [
        ({"type": "input_text", "text": "Hi"}, Text(text="Hi", place=PART)),
        ({"type": "refusal", "refusal": "No"}, Refusal(text="No", place=PART)),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "low"},
            Media(kind="image", source=Inline("image/png", "iVBO"), detail="low", place=PART),
        ),
        (
            {"type": "input_image", "image_url": None, "file_id": "f1"},
            Media(kind="image", source=UploadedFile(), place=PART),
        ),
        (
            {"type": "input_file", "file_url": "https://a/b", "filename": "b"},
            Media(kind="document", source=Link("https://a/b"), name="b", place=PART),
        ),
        (
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBE"},
            Media(kind="document", source=Inline("application/pdf", "JVBE"), place=PART),
        ),
        (
            {"type": "input_file", "file_id": "f1"},
            Media(kind="document", source=UploadedFile(), place=PART),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            Media(kind="audio", source=Inline("audio/wav", "UklG"), place=PART),
        ),
        (
            {"type": "computer_screenshot", "file_id": "f"},
            Foreign(kind="content.computer_screenshot", place=PART),
        ),
    ],
)
def test_parts(content: Json, block: object) -> None:
    assert block_of(content) == block


@each(
    ("content", "place"),
    [
        ({"type": "input_image"}, "file_id"),
        ({"type": "input_image", "image_url": "data:x"}, "image_url"),
        ({"type": "input_file", "file_data": "UEsDBA=="}, "file_data"),
        ({"type": "input_file"}, "file_id"),
        ({"type": "input_audio"}, "input_audio"),
        ({"type": "input_audio", "input_audio": {"data": "UklG"}}, "input_audio.format"),
        ({"type": "input_text", "text": ["x"]}, "text"),
    ],
)
def test_parts_of_another_form_are_refused_by_their_place(content: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        block_of(content)
    assert excinfo.value.place == f"{PART}.{place}"


def test_a_text_that_the_caller_sends_back() -> None:
    cited = {
        "type": "url_citation",
        "url": "https://a",
        "title": "A",
        "start_index": 0,
        "end_index": 1,
    }
    text = {"type": "output_text", "text": "Hi", "annotations": [cited, {"type": "file_path"}]}
    block = block_of({**text, "logprobs": []}, "assistant")
    assert (block.text, block.citations) == ("Hi", [])


@each(
    ("part", "places"),
    [
        ({"type": "input_image", "image_url": "https://a/b", "file_id": "f"}, ["file_id"]),
        (
            {"type": "input_file", "file_url": "https://a/b", "file_data": "x", "file_id": "f"},
            ["file_data", "file_id"],
        ),
        ({"type": "input_text", "text": "x", "more": 1}, ["more"]),
    ],
)
def test_what_is_not_read_of_a_part_is_noted(part: Json, places: list[str]) -> None:
    request = request_with(part)
    assert request.unread == [f"{PART}.{place}" for place in places]


def test_a_string_is_one_text_and_nothing_is_no_block() -> None:
    assert read_content("Hi", "c", []) == [Text(text="Hi", place="c")]
    assert read_content(None, "c", []) == []


@pytest.mark.parametrize("text", ["", None])
def test_a_required_member_is_not_empty(text: str | None) -> None:
    with pytest.raises(WrongType, match=r"'c\.id' must be a string that is not empty"):
        required(text, "c.id")
