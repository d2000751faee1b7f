"""Blocks of requests."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.converse.content_writer import limit_cache_points
from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Media,
    PlainText,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
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
    assert request.lost == {"i": "a model's turn has no media"}


def test_a_block_of_another_vendor_is_lost() -> None:
    foreign = Foreign(language="other", kind="widget", raw=Raw(b"{}"), place="w")
    assert written(CLAUDE, user(foreign, Text(text="a"))).lost == {
        "w": "'widget' is known to another vendor only"
    }
