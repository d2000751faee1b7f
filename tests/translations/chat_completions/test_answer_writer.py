"""Neutral answers -> chat completions in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.chat_completions.answer_writer import write_answer
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Link,
    Media,
    PlainText,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop, TokenLogprob
from engine.translations.neutral.request import ChatRequest
from tests.support.each import each
from tests.translations.answers import answer, blocks
from tests.translations.openai_sdk import chat_completion

REQUEST = ChatRequest(
    language="chat_completions", model="alias", messages=[], id="req1", time=1_700_000_000
)


def write(full_answer: Answer) -> Any:
    """The answer, which the SDK accepts, as JSON."""
    body = write_answer(full_answer, REQUEST)
    chat_completion(body)
    return json.loads(body)


def message(*content: Block, stop: Stop = "end", **finish: Any) -> Any:
    return write(answer(*content, stop=stop, **finish))["choices"][0]["message"]


def test_an_answer_of_every_kind_of_block() -> None:
    assert write(answer(*blocks(), stop="tool_calls")) == {
        "id": "chatcmpl-a1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "I look.Well",
                    "refusal": "No.",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "url_citation": {
                                "start_index": 0,
                                "end_index": 1,
                                "url": "https://a",
                                "title": "A",
                            },
                        }
                    ],
                    "reasoning_content": "hm",
                    "reasoning_details": [
                        {
                            "type": "reasoning.text",
                            "index": 0,
                            "text": "hm",
                            "signature": "modelway:messages:s",
                        }
                    ],
                    "images": [
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,iVBO"},
                        }
                    ],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"a":1.0}'},
                        },
                        {
                            "id": "c2",
                            "type": "function",
                            "function": {"name": "time", "arguments": "{}"},
                        },
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


@each(
    ("content", "expected"),
    [
        ([], ""),
        ([Text(text="")], ""),
        ([Text(text="a"), Text(text=" b")], "a b"),
        ([ToolCall(id="c", name="f")], None),
        ([Refusal(text="No")], None),
        ([Text(text="a"), ToolCall(id="c", name="f")], "a"),
    ],
)
def test_content(content: list[Block], expected: str | None) -> None:
    assert message(*content)["content"] == expected


@each(
    ("stop", "reason"),
    [
        ("end", "stop"),
        ("stop_sequence", "stop"),
        ("pause", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("filter", "content_filter"),
    ],
)
def test_finish_reasons(stop: Stop, reason: str) -> None:
    assert write(answer(Text(text="a"), stop=stop))["choices"][0]["finish_reason"] == reason


def test_why_an_answer_was_filtered_is_a_refusal() -> None:
    assert message(stop="filter", explanation="Not this.")["refusal"] == "Not this."


def test_spans_of_citations_are_those_of_the_whole_content() -> None:
    cited = [
        Text(text="12345"),
        Text(text="6789", citations=[Citation("https://a", start=1, end=2), Citation("https://b")]),
        Text(text="0", citations=[Citation(title="a book without a URL")]),
    ]
    spans = [
        (each["url_citation"]["start_index"], each["url_citation"]["end_index"])
        for each in message(*cited)["annotations"]
    ]
    assert spans == [(6, 7), (5, 9)]


def test_every_candidate_and_its_log_probabilities() -> None:
    tokens = [TokenLogprob("é", -0.5, [("x", -2.0)])]
    candidates = [
        Candidate([Text(text="a")], Finish(stop="end")),
        Candidate([Text(text="é")], Finish(stop="length"), tokens),
    ]
    full_answer = answer()
    full_answer.candidates, full_answer.usage = candidates, None
    document = write(full_answer)
    assert "usage" not in document
    assert [each["index"] for each in document["choices"]] == [0, 1]
    (entry,) = document["choices"][1]["logprobs"]["content"]
    assert entry == {
        "token": "é",
        "logprob": -0.5,
        "bytes": [195, 169],
        "top_logprobs": [{"token": "x", "logprob": -2.0, "bytes": [120]}],
    }


def test_what_an_answer_lacks_is_the_requests() -> None:
    full_answer = answer(Text(text="a"))
    full_answer.id = full_answer.model = ""
    full_answer.created = 0
    document = write(full_answer)
    names = ("id", "model", "created")
    assert [document[name] for name in names] == ["chatcmpl-req1", "alias", 1_700_000_000]


def test_what_another_vendor_ran_is_left_out() -> None:
    block = Foreign(kind="server_tool_use")
    assert message(block, Text(text="a"))["content"] == "a"


def test_a_link_to_an_image() -> None:
    block = Media(kind="image", source=Link("https://a/b"))
    assert message(block)["images"][0]["image_url"] == {"url": "https://a/b"}


@each(
    "block",
    [
        Media(kind="audio", source=Link("https://a/b")),
        Media(kind="image", source=PlainText("x")),
    ],
)
def test_content_that_a_message_has_no_member_for(block: Block) -> None:
    with pytest.raises(BrokenAnswer, match="this format cannot carry"):
        message(block)
