"""Neutral events -> the events of a stream, as the SDK puts them together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, Stop, TokenLogprob
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request import CallerTool, ChatRequest
from engine.translations.responses.answer_writer import write_answer
from engine.translations.responses.stream_reader import Reader
from engine.translations.responses.stream_writer import Writer
from tests.support.each import each
from tests.support.translation_strategies import unique_calls
from tests.support.translations import event_data
from tests.translations.answers import answer, blocks, events_of
from tests.translations.openai_sdk import response_event

Json = dict[str, Any]

REQUEST = ChatRequest(
    language="responses", model="alias", messages=[], id="req1", time=1_700_000_000
)


def output_of(full_answer: Answer, pieces: int = 3) -> bytes:
    writer = Writer(REQUEST)
    return b"".join(writer.write(event) for event in events_of(full_answer, pieces))


def stream(full_answer: Answer, pieces: int = 3) -> list[Json]:
    """The events, each of which the SDK accepts."""
    data = event_data(output_of(full_answer, pieces))
    for document in data:
        response_event(document)
    return [json.loads(document) for document in data]


def kinds(*content: Block, stop: Stop = "end") -> list[str]:
    events = stream(answer(*content, stop=stop), 100)
    return [event["type"].removeprefix("response.") for event in events]


@each("pieces", [1, 3, 100])
def test_the_last_event_is_the_answer_in_one_piece(pieces: int) -> None:
    full_answer = answer(*blocks(), stop="tool_calls")
    last = stream(full_answer, pieces)[-1]
    assert last["type"] == "response.completed"
    assert last["response"] == json.loads(write_answer(full_answer, REQUEST))


def test_every_event_has_its_name_and_the_next_number() -> None:
    output = output_of(answer(*blocks()))
    events = stream(answer(*blocks()))
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    names = [line[7:].decode() for line in output.splitlines() if line.startswith(b"event: ")]
    assert names == [event["type"] for event in events]


@each(
    ("block", "expected"),
    [
        (
            Text(text="a"),
            [
                *("output_item.added", "content_part.added", "output_text.delta"),
                *("output_text.done", "content_part.done", "output_item.done"),
            ],
        ),
        (
            ToolCall(id="c", name="f"),
            [
                *("output_item.added", "function_call_arguments.delta"),
                *("function_call_arguments.done", "output_item.done"),
            ],
        ),
        (
            Reasoning(text="hm"),
            [
                *("output_item.added", "reasoning_summary_part.added"),
                *("reasoning_summary_text.delta", "reasoning_summary_text.done"),
                *("reasoning_summary_part.done", "output_item.done"),
            ],
        ),
        (
            Reasoning(signature=Signature("messages", "s")),
            ["output_item.added", "output_item.done"],
        ),
        (
            Media(kind="image", source=Inline("image/png", "iVBO")),
            ["output_item.added", "output_item.done"],
        ),
    ],
)
def test_events_come_in_the_vendors_order(block: Block, expected: list[str]) -> None:
    assert kinds(block) == ["created", "in_progress", *expected, "completed"]


def test_an_answer_that_was_cut_is_incomplete() -> None:
    assert kinds(Text(text="a"), stop="length")[-1] == "incomplete"


@each(
    "content",
    [
        [Text(text="a")],
        [Reasoning(text="hm")],
        [ToolCall(id="c", name="g", arguments='{"a')],
        [ToolCall(id="c", name="g"), Text(text="a")],
        [Text(text="a"), ToolCall(id="c", name="custom", arguments='{"input": "a')],
    ],
)
def test_a_cut_answer_ends_like_the_one_in_one_piece(content: list[Block]) -> None:
    full_answer = answer(*content, stop="length")
    request = replace(REQUEST, caller_tools={"custom": CallerTool("custom", "custom")})
    writer = Writer(request)
    data = b"".join(writer.write(event) for event in events_of(full_answer))
    *events, last = map(json.loads, event_data(data))
    items = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert last["response"] == json.loads(write_answer(full_answer, request))
    assert items == last["response"]["output"]


@each("more", [[], [Text(text="a")]])
def test_arguments_that_are_needed_whole_and_are_no_json_end_the_stream(more: list[Block]) -> None:
    call = ToolCall(id="c", name="custom", arguments='{"input": "a')
    tools = {"custom": CallerTool("custom", "custom")}
    writer = Writer(replace(REQUEST, caller_tools=tools))
    with pytest.raises(WrongType, match="arguments of custom"):
        b"".join(map(writer.write, events_of(answer(call, *more))))


def test_indexes_and_ids_of_events_are_those_of_the_answer() -> None:
    events = stream(answer(*blocks(), Text(text="a"), Text(text="b")))
    output = events[-1]["response"]["output"]
    for event in events:
        if "output_index" not in event:
            continue
        item = output[event["output_index"]]
        assert event.get("item_id", event.get("item", {}).get("id")) == item["id"]
        if "content_index" in event:
            assert event["content_index"] < len(item["content"])
    finished = [e["output_index"] for e in events if e["type"] == "response.output_item.done"]
    assert finished == [*range(len(output))]


def test_every_event_is_on_one_line_also_where_json_is_passed_on() -> None:
    request = replace(
        REQUEST,
        extra={"reasoning": Raw(b'{\n"effort":\r\nnull}'), "tools": Raw(b"[\n]")},
        caller_tools={"tool_search": CallerTool("tool_search", "tool_search")},
    )
    call = ToolCall(id="c", name="tool_search", arguments='{\n"query": 1.0}')
    stream = b"".join(map(Writer(request).write, events_of(answer(call))))
    lines = [line for line in stream.splitlines() if line]
    assert [line for line in lines if not line.startswith((b"event: ", b"data: "))] == []
    assert b'"arguments":{"query":1.0}' in stream


def test_the_sdk_comes_to_the_same_texts_and_arguments() -> None:
    texts: dict[tuple[int, int], str] = {}
    events = stream(answer(*blocks()), 2)
    for event in events:
        if event["type"].endswith(".delta"):
            key = (event["output_index"], event.get("content_index", 0))
            texts[key] = texts.get(key, "") + event["delta"]
    assert [*texts.values()] == ["hm", "I look.", "Well", '{"a":1.0}', "{}", "No."]


def test_citations_and_log_probabilities_are_repeated_at_the_end() -> None:
    full_answer = answer(Text(text="ab", citations=[Citation("https://a")]))
    full_answer.candidates[0].logprobs = [TokenLogprob("ab", -0.5)]
    events = stream(full_answer)
    (cited,) = [e for e in events if e["type"] == "response.output_text.annotation.added"]
    part = events[-1]["response"]["output"][0]["content"][0]
    assert part["annotations"] == [cited["annotation"]]
    assert [token["token"] for token in part["logprobs"]] == ["ab"]
    (tokens,) = [e["logprobs"] for e in events if e["type"].endswith("delta") and e["logprobs"]]
    assert tokens == part["logprobs"]


def test_why_an_answer_was_filtered_is_a_refusal() -> None:
    events = stream(answer(Text(text="a"), stop="filter", explanation="Not this."))
    assert [e["refusal"] for e in events if e["type"] == "response.refusal.done"] == ["Not this."]
    content = events[-1]["response"]["output"][0]["content"]
    assert content[1] == {"type": "refusal", "refusal": "Not this."}


@each(
    "block",
    [
        Text(text="x" * 2000),
        Text(text="x", citations=[Citation("https://" + "a" * 100)] * 5),
        Reasoning(signature=Signature("messages", "s" * 1000)),
    ],
)
def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch, block: Block) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 1000)
    with pytest.raises(BrokenAnswer, match="over 1000 characters"):
        output_of(answer(block))


def test_the_number_of_items_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 1000)
    calls = [ToolCall(id=f"c{index}", name="f") for index in range(10)]
    with pytest.raises(BrokenAnswer, match="over 1000 characters"):
        output_of(answer(*calls))


def test_only_the_first_candidate_is_written() -> None:
    full_answer = answer(ToolCall(id="c", name="f"))
    full_answer.candidates += answer(Text(text="other")).candidates
    assert b"other" not in output_of(full_answer)


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
CONTENT = st.lists(
    st.one_of(
        st.builds(Text, text=WORDS),
        st.builds(ToolCall, id=st.just("c"), name=WORDS, arguments=st.just('{"a":1.0}')),
        st.builds(Reasoning, text=WORDS, signature=st.just(Signature("messages", "s"))),
    ),
    max_size=4,
).map(unique_calls)


@given(content=CONTENT, pieces=st.integers(1, 5))
def test_a_stream_is_read_as_what_was_written(content: list[Block], pieces: int) -> None:
    full_answer = answer(*content)
    reader = Reader()
    data = event_data(output_of(full_answer, pieces))
    events = [event for document in data for event in reader.read(document)]
    assert collect([*events, *reader.end()]).candidates[0].blocks == content
