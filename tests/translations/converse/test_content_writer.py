"""Blocks of requests."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from engine.translations.converse.content_writer import MediaWriter, limit_cache_points
from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Signature,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
    inline,
)
from engine.translations.neutral.losses import Losses
from engine.values.wildcard import Patterns
from tests.support import bedrock
from tests.support.each import each
from tests.translations.converse.writing import CLAUDE, HI, LLAMA, NOVA, assistant, user, written

POINT = {"cachePoint": {"type": "default"}}
HOUR = {"cachePoint": {"type": "default", "ttl": "1h"}}


def test_a_blank_text_is_left_out() -> None:
    assert written(CLAUDE, user(Text(text=" \n"), Text(text="a"))).content == [{"text": "a"}]


def test_marks_are_points_behind_what_is_kept() -> None:
    blocks = [Text(text="a", cache="5m"), Text(text="b", cache="1h"), Text(text="c")]
    content = written(CLAUDE, user(*blocks)).content
    assert content == [{"text": "a"}, POINT, {"text": "b"}, HOUR, {"text": "c"}]


def test_a_model_without_a_cache_gets_no_marks() -> None:
    assert written(LLAMA, user(Text(text="a", cache="5m"))).content == [{"text": "a"}]


def test_the_last_four_points_are_left() -> None:
    lists = [[{"n": 1}, POINT, HOUR], [POINT], [POINT, {"n": 2}, POINT, POINT]]
    limit_cache_points(lists)
    assert lists == [[{"n": 1}], [POINT], [POINT, {"n": 2}, POINT, POINT]]


def test_calls_and_results_have_their_shapes() -> None:
    call = ToolCall(id="call 1", name="f", arguments='{"a":1.50}')
    result = ToolResult(id="call 1", content=[Text(text="x", cache="5m")], is_error=True)
    body = written(CLAUDE, HI, assistant(call), user(result)).body
    use = body["messages"][1]["content"][0]["toolUse"]
    assert (use["name"], use["input"]) == ("f", {"a": 1.5})
    assert body["messages"][2]["content"] == [
        {
            "toolResult": {
                "toolUseId": use["toolUseId"],
                "content": [{"text": "x"}],
                "status": "error",
            }
        },
        POINT,
    ]


SIGNED = Reasoning(text="hm", signature=Signature("converse", "s"), place="t")


def test_thoughts_return_to_the_vendor_that_signed_them() -> None:
    request = written(CLAUDE, HI, assistant(SIGNED, Text(text="a")), HI)
    content = request.body["messages"][1]["content"]
    reasoning = {"reasoningText": {"text": "hm", "signature": "s"}}
    assert content == [{"reasoningContent": reasoning}, {"text": "a"}]
    assert not request.hints


def test_other_thoughts_and_those_for_other_models_are_dropped() -> None:
    foreign = Reasoning(text="hm", signature=Signature("messages", "s"), place="t")
    for model, thoughts in [(CLAUDE, foreign), (CLAUDE, Reasoning(place="t")), (NOVA, SIGNED)]:
        request = written(model, HI, assistant(thoughts, Text(text="a")), HI)
        assert request.body["messages"][1]["content"] == [{"text": "a"}]
        assert request.hints == {"t"}


def test_a_text_stands_beside_a_document() -> None:
    document = Media(kind="document", source=PlainText("x"), name="notes")
    assert written(CLAUDE, user(document)).content[1:] == [{"text": "notes"}]
    assert written(CLAUDE, user(document, Text(text="a"))).content[1:] == [{"text": "a"}]


def test_a_models_turn_has_no_media() -> None:
    image = Media(kind="image", source=Inline("image/png", "iVBORw0KGgo="), place="i")
    request = written(CLAUDE, HI, assistant(image, Text(text="a")), HI)
    assert request.lost == {"i": "an assistant's turn cannot contain media"}


def test_a_block_of_another_vendor_is_lost() -> None:
    foreign = Foreign(kind="widget", place="w")
    assert written(CLAUDE, user(foreign, Text(text="a"))).lost == {
        "w": "only another vendor has 'widget' blocks"
    }


ALL = frozenset({"image", "audio", "video", "document"})
PNG = "iVBORw0KGgo="


def write(kind: Any, source: Source, **more: Any) -> tuple[Any, list[str]]:
    losses = Losses(Patterns(()))
    block = Media(kind=kind, source=source, place="m", **more)
    result = MediaWriter(losses, ALL).write(block)
    return result, [loss.reason for loss in losses.losses]


FORMATS = [
    ("image", Inline("image/png", PNG), "png"),
    ("image", inline("image/jpeg", PNG), "png"),  # what it is, not what it is called
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
    ("image", Link("https://a.example/a.png"), "only links to Amazon S3"),
    ("image", Link("s3://bucket/a"), "unknown type"),
    ("image", Inline("image/tiff", "AAAA"), "no image/tiff"),
    ("image", PlainText("x"), "text"),
    ("image", UploadedFile(), "another vendor"),
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
