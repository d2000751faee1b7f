"""Responses in one piece -> neutral events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.content import (
    Citation,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, TokenLogprob, UpstreamError
from engine.translations.responses.answer_reader import read_answer
from tests.support.each import each

Json = dict[str, Any]

HEAD: Json = {"id": "resp_1", "object": "response", "created_at": 7.0, "model": "gpt"}
CALL: Json = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f"}


def read(*items: Json, **members: Any) -> Answer:
    document = {**HEAD, "status": "completed", "output": items, **members}
    return collect(read_answer(json.dumps(document).encode()))


def message(*parts: Json) -> Json:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": parts}


def text(value: str, **members: Any) -> Json:
    return {"type": "output_text", "text": value, "annotations": [], **members}


CITED: Json = {
    "type": "url_citation",
    "url": "https://a",
    "title": "A",
    "start_index": 0,
    "end_index": 1,
}


@each(
    ("items", "blocks"),
    [
        ([], []),
        ([message(text("a"), text("b"))], [Text(text="a"), Text(text="b")]),
        ([message({"type": "refusal", "refusal": "No"})], [Refusal(text="No")]),
        (
            [message(text("a", annotations=[CITED, {"type": "file_path"}]))],
            [Text(text="a", citations=[Citation("https://a", "A", start=0, end=1)])],
        ),
        ([{**CALL, "arguments": ""}], [ToolCall(id="c1", name="f")]),
        (
            [{**CALL, "arguments": '{"a":1.0}'}],
            [ToolCall(id="c1", name="f", arguments='{"a":1.0}')],
        ),
        (
            [
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "encrypted_content": "gAAA",
                    "summary": [{"type": "summary_text", "text": t} for t in ("a", "b")],
                }
            ],
            [Reasoning(text="a\n\nb", signature=Signature("responses", "rs_1 gAAA"))],
        ),
    ],
)
def test_items(items: list[Json], blocks: list[object]) -> None:
    assert read(*items).candidates[0].blocks == blocks


def test_what_the_vendor_runs_itself_is_no_content() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    (block,) = read(item).candidates[0].blocks
    assert block == Foreign(kind="web_search_call", omissible=True)


@each(
    ("members", "stop"),
    [
        ({}, "end"),
        ({"status": None}, "end"),
        ({"output": [{**CALL, "arguments": "{}"}]}, "tool_calls"),
        ({"status": "incomplete"}, "length"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "filter",
        ),
    ],
)
def test_ends(members: Json, stop: str) -> None:
    assert read(**members).candidates[0].finish.stop == stop


@each(
    ("members", "message"),
    [
        ({"status": "in_progress"}, "status 'in_progress'"),
        ({"status": "x" * 100}, "status 'x{40}'"),
        ({"output": None}, "has no output"),
        ({"output": [{**CALL, "name": ""}]}, "without a name"),
    ],
)
def test_broken_answers(members: Json, message: str) -> None:
    with pytest.raises(BrokenAnswer, match=message):
        read(**members)


@each(
    ("document", "expected"),
    [
        (
            {**HEAD, "status": "failed", "error": {"code": "server_error", "message": "m"}},
            (500, "m", "server_error"),
        ),
        ({**HEAD, "status": "failed", "error": None, "output": []}, (502, "", "")),
        (
            {"error": {"code": "rate_limit_exceeded", "message": "m"}},
            (429, "m", "rate_limit_exceeded"),
        ),
        ({"error": "m"}, (502, "m", "")),
    ],
)
def test_failures(document: Json, expected: tuple[int, str, str]) -> None:
    with pytest.raises(UpstreamError) as excinfo:
        list(read_answer(json.dumps(document).encode()))
    error = excinfo.value
    assert (error.status, error.message, error.code) == expected


def test_log_probabilities_and_odd_usage() -> None:
    token = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
    answer = read(message(text("a", logprobs=[token])), usage={"input_tokens": "9", "x": []})
    assert answer.usage is None  # which the reader of the dialect reads
    assert answer.candidates[0].logprobs == [TokenLogprob("a", -0.5)]


@each(
    ("item", "block"),
    [
        ({"role": "assistant", "content": [text("a")]}, Text(text="a")),
        ({"type": "", "role": "assistant", "content": [{"text": "a"}]}, Text(text="a")),
        ({"type": "text", "role": "assistant", "content": [{"text": "a"}]}, Text(text="a")),
        (
            {"call_id": "c1", "name": "f", "arguments": "{}"},
            ToolCall(id="c1", name="f", arguments="{}"),
        ),
        (
            {**CALL, "type": "tool_call", "arguments": "{}"},
            ToolCall(id="c1", name="f", arguments="{}"),
        ),
        (
            {"id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
            Reasoning(text="hm"),
        ),
    ],
)
def test_an_item_is_what_its_members_say_if_its_type_does_not(item: Json, block: Any) -> None:
    assert read(item).candidates[0].blocks == [block]


@each("kind", ["tool_search_call", "computer_call", "hologram"])
def test_a_call_that_the_caller_has_to_answer_is_refused(kind: str) -> None:
    with pytest.raises(BrokenAnswer, match=f"content of the kind '{kind}'"):
        read({"type": "web_search_call"}, {"type": kind, "x": 1})


def test_a_part_of_an_unknown_kind_is_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer, match="content of the kind 'output_audio'"):
        read(message({"type": "output_audio", "data": "AA"}))


def test_an_image_that_the_vendor_made_has_a_substitute() -> None:
    item = {"type": "image_generation_call", "result": "iVBO", "output_format": "webp"}
    assert read(item, {**item, "result": None}).candidates[0].blocks == [
        Media(kind="image", source=Inline("image/webp", "iVBO")),
        Foreign(kind="image_generation_call", omissible=True),  # it has failed
    ]
