"""Neutral answers -> responses in one piece, which the SDK accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, Stop, TokenLogprob
from engine.translations.neutral.request import (
    CallerTool,
    ChatRequest,
    OutputFormat,
    Tool,
    ToolChoice,
)
from engine.translations.responses.answer_writer import CitedTexts, write_answer, write_part
from tests.support.each import each
from tests.translations.answers import answer, blocks
from tests.translations.openai_sdk import response

Json = dict[str, Any]


def request(**members: Any) -> ChatRequest:
    return ChatRequest(
        language="responses", model="alias", messages=[], id="req1", time=1_700_000_000, **members
    )


def write(full_answer: Answer, **members: Any) -> Any:
    body = write_answer(full_answer, request(**members))
    response(body)
    return json.loads(body)


def output(*content: Block) -> Any:
    return write(answer(*content))["output"]


def test_an_answer_of_every_kind_of_block() -> None:
    document = write(answer(*blocks(), stop="tool_calls"))
    text = {"type": "output_text", "annotations": [], "logprobs": []}
    cited = {
        "type": "url_citation",
        "start_index": 0,
        "end_index": 1,
        "url": "https://a",
        "title": "A",
    }
    message = {"type": "message", "status": "completed", "role": "assistant"}
    call = {"type": "function_call", "status": "completed"}
    assert document["output"] == [
        {
            "id": "rs_a1_0",
            "type": "reasoning",
            "encrypted_content": "modelway:messages:s",
            "summary": [{"type": "summary_text", "text": "hm"}],
        },
        {
            "id": "msg_a1_1",
            **message,
            "content": [{**text, "text": "I look.", "annotations": [cited]}],
        },
        {
            "id": "ig_a1_2",
            "type": "image_generation_call",
            "status": "completed",
            "result": "iVBO",
        },
        {"id": "msg_a1_3", **message, "content": [{**text, "text": "Well"}]},
        {
            "id": "fc_a1_4",
            **call,
            "call_id": "c1",
            "name": "look",
            "arguments": '{"a":1.0}',
        },
        {"id": "fc_a1_5", **call, "call_id": "c2", "name": "time", "arguments": "{}"},
        {"id": "msg_a1_6", **message, "content": [{"type": "refusal", "refusal": "No."}]},
    ]
    assert document["usage"] == {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 13,
    }


def test_neighbouring_texts_are_parts_of_one_message() -> None:
    (message,) = output(Text(text="a"), Text(text="b"), Refusal(text="No"))
    assert [part["type"] for part in message["content"]] == [
        *("output_text", "output_text"),
        "refusal",
    ]


@each(
    ("stop", "status", "reason"),
    [
        ("end", "completed", None),
        ("tool_calls", "completed", None),
        ("stop_sequence", "completed", None),
        ("pause", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("filter", "incomplete", "content_filter"),
    ],
)
def test_ends(stop: Stop, status: str, reason: str | None) -> None:
    document = write(answer(Text(text="a"), stop=stop))
    details = None if reason is None else {"reason": reason}
    assert (document["status"], document["incomplete_details"]) == (status, details)


def test_why_an_answer_was_filtered_is_a_refusal() -> None:
    full_answer = answer(Text(text="a"), stop="filter", explanation="Not this.")
    (message,) = write(full_answer)["output"]
    assert message["content"][1] == {"type": "refusal", "refusal": "Not this."}


def test_the_request_is_repeated_as_the_caller_wrote_it() -> None:
    name = "a.long/name"
    document = write(
        answer(Text(text="a")),
        system=[Text(text="Be brief.")],
        tools=[Tool(name=name, schema=Raw(b"{}"), strict=True)],
        tool_choice=ToolChoice("any", (name,)),
        parallel_calls=False,
        max_tokens=99,
        temperature=Raw(b"0.5"),
        output=OutputFormat(kind="json_schema", name="n", schema=Raw(b"{}")),
        user="u",
        extra={
            "metadata": Raw(b'{"a":"b"}'),
            "reasoning": Raw(b'{"effort":"low"}'),
            "tools": Raw(b'[{"type":"function","name":"%b"}]' % name.encode()),
        },
    )
    expected: Json = {
        "instructions": "Be brief.",
        "tools": [{"type": "function", "name": name}],
        "tool_choice": {"type": "function", "name": name},
        "parallel_tool_calls": False,
        "max_output_tokens": 99,
        "temperature": 0.5,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
        "user": "u",
        "metadata": {"a": "b"},
        "reasoning": {"effort": "low"},
        "store": False,
    }
    assert {name: document[name] for name in expected} == expected


def test_what_an_answer_lacks_is_the_requests() -> None:
    full_answer = answer(Text(text="a"))
    full_answer.id = full_answer.model = ""
    full_answer.created, full_answer.usage = 0, None
    document = write(full_answer)
    names = ("id", "model", "created_at", "usage")
    assert [document[name] for name in names] == ["resp_req1", "alias", 1_700_000_000, None]


def test_log_probabilities_are_those_of_the_first_text() -> None:
    full_answer = answer(Text(text="a"), Text(text="b"))
    full_answer.candidates[0].logprobs = [TokenLogprob("a", -0.5, [("x", -2.0)])]
    first, second = write(full_answer)["output"][0]["content"]
    assert [token["token"] for token in first["logprobs"]] == ["a"]
    assert second["logprobs"] == []


def test_citations_without_a_page_are_left_out() -> None:
    cited = Text(text="ab", citations=[Citation(title="a book"), Citation("https://a")])
    (annotation,) = output(cited)[0]["content"][0]["annotations"]
    assert (annotation["start_index"], annotation["end_index"]) == (0, 2)


def test_what_another_vendor_ran_is_left_out() -> None:
    block = Foreign(kind="server_tool_use", omissible=True)
    assert len(output(Text(text="a"), block, Text(text="b"))) == 2


@each(
    "block",
    [
        Media(kind="audio", source=Link("https://a/b")),
        Media(kind="image", source=Link("https://a/b")),
    ],
)
def test_content_that_no_item_can_have(block: Block) -> None:
    with pytest.raises(BrokenAnswer, match="this format cannot carry"):
        output(block)


def test_only_the_first_candidate_is_written() -> None:
    full_answer = answer(ToolCall(id="c", name="f"))
    full_answer.candidates += answer(Text(text="other")).candidates
    assert [item["type"] for item in write(full_answer)["output"]] == ["function_call"]


CUSTOM = {"f": CallerTool("custom", "f")}


@each(
    "content, statuses",
    [
        ([Text(text="a")], ["incomplete"]),
        ([Reasoning(text="hm")], ["incomplete"]),
        ([ToolCall(id="c", name="g", arguments='{"a')], ["incomplete"]),
        ([ToolCall(id="c", name="g"), Text(text="a")], ["completed", "incomplete"]),
        ([Media(kind="image", source=Inline("image/png", "iVBO"))], ["completed"]),
    ],
)
def test_the_item_in_which_an_answer_was_cut_is_incomplete(
    content: list[Block], statuses: list[str]
) -> None:
    items = write(answer(*content, stop="length"))["output"]
    assert [item["status"] for item in items] == statuses


def test_a_call_that_was_cut_is_left_out_where_its_item_needs_all_of_it() -> None:
    call = ToolCall(id="c", name="f", arguments='{"input": "a')
    document = write(answer(Text(text="a"), call, stop="length"), caller_tools=CUSTOM)
    assert [item["status"] for item in document["output"]] == ["completed"]


def _add(texts: CitedTexts, text: Text, number: int) -> list[Json]:
    return list(texts.add(text, write_part(text, []), {"content_index": number}))


def _span(members: Json | None) -> tuple[int, int, int, int]:
    assert members is not None
    annotation = members["annotation"]
    place = members["content_index"], members["annotation_index"]
    return *place, annotation["start_index"], annotation["end_index"]


def test_the_citations_of_a_text_come_with_its_end() -> None:
    text = Text(text="abcd", citations=[Citation("https://a"), Citation("https://b", "", "", 1, 2)])
    assert [_span(each) for each in _add(CitedTexts(), text, 3)] == [(3, 0, 0, 4), (3, 1, 1, 2)]


def test_a_late_citation_goes_to_the_text_of_its_span() -> None:
    texts = CitedTexts()
    assert _add(texts, Text(text="abcd"), 0) == _add(texts, Text(text="efgh"), 1) == []
    assert _span(texts.cite(Citation("https://a", start=1, end=3))) == (0, 0, 1, 3)
    assert _span(texts.cite(Citation("https://a", start=5, end=7))) == (1, 0, 1, 3)
    assert _span(texts.cite(Citation("https://a"))) == (1, 1, 0, 4)


def test_a_citation_without_any_text_says_nothing() -> None:
    assert CitedTexts().cite(Citation("https://a")) is None
