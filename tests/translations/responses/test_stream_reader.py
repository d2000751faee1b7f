"""The events of a responses stream -> neutral events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.content import (
    Citation,
    Foreign,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Event,
    Open,
    TokenLogprob,
    UpstreamError,
)
from engine.translations.responses.stream_reader import Reader
from tests.support.each import each

Json = dict[str, Any]

RESPONSE: Json = {"id": "resp_1", "created_at": 7, "model": "gpt", "output": []}
CREATED: Json = {"type": "response.created", "response": RESPONSE}
USAGE = {"input_tokens": 9, "output_tokens": 4}
COMPLETED: Json = {
    "type": "response.completed",
    "response": {**RESPONSE, "status": "completed", "usage": USAGE},
}


def event(name: str, **members: Any) -> Json:
    return {"type": f"response.{name}", "output_index": 0, **members}


def added(**item: Any) -> Json:
    return event("output_item.added", item=item)


def item_done(**item: Any) -> Json:
    return event("output_item.done", item=item)


def part(**members: Any) -> Json:
    return event("content_part.added", part=members)


def part_done(**members: Any) -> Json:
    return event("content_part.done", part=members)


def delta(name: str, text: str, **members: Any) -> Json:
    return event(f"{name}.delta", delta=text, **members)


def events_of(*documents: Json) -> Iterator[Event]:
    reader, law = Reader(), AnswerState()
    for document in documents:
        for each_event in reader.read(json.dumps(document).encode()):
            law.check(each_event)
            yield each_event
    yield from reader.end()


def read(*documents: Json) -> Answer:
    return collect(events_of(CREATED, *documents, COMPLETED))


def blocks_of(*documents: Json) -> list[Any]:
    return read(*documents).candidates[0].blocks


MESSAGE: Json = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
TEXT: Json = {"type": "output_text", "text": ""}
FULL_ITEM: Json = {**MESSAGE, "content": [{"type": "output_text", "text": "ab"}]}
CALL: Json = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f"}
THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
SUMMARY: Json = {"summary": [{"type": "summary_text", "text": "hm"}]}
SIGNED = Reasoning(text="hm", signature=Signature("responses", "rs_1 gAAA"))


@each(
    ("documents", "block"),
    [
        (
            [
                *(added(**MESSAGE), part(**TEXT), delta("output_text", "a")),
                *(delta("output_text", "b"), event("output_text.done", text="ab")),
                *(part_done(type="output_text", text="ab"), item_done(**FULL_ITEM)),
            ],
            Text(text="ab"),
        ),
        # the text only at the end of the part
        (
            [
                added(**MESSAGE),
                part(**TEXT),
                part_done(type="output_text", text="ab"),
                item_done(**FULL_ITEM),
            ],
            Text(text="ab"),
        ),
        # no event of the part
        (
            [added(**MESSAGE), delta("output_text", "ab"), item_done(**FULL_ITEM)],
            Text(text="ab"),
        ),
        # no end of the part
        (
            [
                added(**MESSAGE),
                part(**TEXT),
                delta("output_text", "ab"),
                item_done(**FULL_ITEM),
            ],
            Text(text="ab"),
        ),
        # no event but that of the item
        ([added(**MESSAGE), item_done(**FULL_ITEM)], Text(text="ab")),
        ([item_done(**FULL_ITEM)], Text(text="ab")),
        (
            [
                *(added(**MESSAGE), part(type="refusal", refusal=""), delta("refusal", "No")),
                *(part_done(type="refusal", refusal="No"), item_done(**MESSAGE)),
            ],
            Refusal(text="No"),
        ),
        (
            [
                *(added(**CALL, arguments=""), delta("function_call_arguments", '{"a":')),
                *(
                    delta("function_call_arguments", "1.0}"),
                    item_done(**CALL, arguments='{"a":1.0}'),
                ),
            ],
            ToolCall(id="c1", name="f", arguments='{"a":1.0}'),
        ),
        (
            [added(**CALL, arguments=""), item_done(**CALL, arguments='{"a":1.0}')],
            ToolCall(id="c1", name="f", arguments='{"a":1.0}'),
        ),
        ([item_done(**CALL, arguments="{}")], ToolCall(id="c1", name="f", arguments="{}")),
        (
            [
                *(added(**THOUGHT), event("reasoning_summary_part.added", summary_index=0)),
                delta("reasoning_summary_text", "hm", summary_index=0),
                item_done(**{**THOUGHT, **SUMMARY}, encrypted_content="gAAA"),
            ],
            SIGNED,
        ),
        (
            [added(**THOUGHT), item_done(**{**THOUGHT, **SUMMARY}, encrypted_content="gAAA")],
            SIGNED,
        ),
        (
            [added(**THOUGHT), delta("reasoning_text", "hm"), item_done(**THOUGHT)],
            Reasoning(text="hm"),
        ),
    ],
)
def test_blocks(documents: list[Json], block: object) -> None:
    assert blocks_of(*documents) == [block]


def test_parts_of_a_summary_are_paragraphs() -> None:
    (block,) = blocks_of(
        added(**THOUGHT),
        event("reasoning_summary_part.added", summary_index=0),
        delta("reasoning_summary_text", "a"),
        event("reasoning_summary_part.added", summary_index=1),
        delta("reasoning_summary_text", "b"),
        item_done(**THOUGHT),
    )
    assert block.text == "a\n\nb"


def test_an_item_that_the_vendor_runs_itself_is_no_content() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    progress = event("web_search_call.searching", item_id="ws_1")
    (block,) = blocks_of(added(**item), progress, item_done(**item))
    assert block == Foreign(kind="web_search_call", omissible=True)


def test_an_answer_that_only_the_last_event_has() -> None:
    last = {**COMPLETED, "response": {**COMPLETED["response"], "output": [FULL_ITEM]}}
    assert collect(events_of(CREATED, last)).candidates[0].blocks == [Text(text="ab")]


def test_items_of_the_last_event_are_not_read_again() -> None:
    last = {**COMPLETED, "response": {**COMPLETED["response"], "output": [FULL_ITEM]}}
    answer = collect(events_of(CREATED, item_done(**FULL_ITEM), last))
    assert answer.candidates[0].blocks == [Text(text="ab")]


@each(
    ("last", "call", "stop"),
    [
        (COMPLETED, False, "end"),
        (COMPLETED, True, "tool_calls"),
        (
            {
                "type": "response.incomplete",
                "response": {
                    **RESPONSE,
                    "status": "incomplete",
                    "incomplete_details": {"reason": "max_output_tokens"},
                },
            },
            True,
            "length",
        ),
    ],
)
def test_ends(last: Json, call: bool, stop: str) -> None:
    items = [item_done(**CALL, arguments="{}")] if call else []
    answer = collect(events_of(CREATED, *items, last))
    assert answer.candidates[0].finish.stop == stop


def test_an_answer_cut_in_the_middle_of_an_item() -> None:
    response = {**RESPONSE, "status": "incomplete"}
    answer = collect(
        events_of(
            *(CREATED, added(**MESSAGE), part(**TEXT), delta("output_text", "a")),
            {"type": "response.incomplete", "response": response},
        )
    )
    assert answer.candidates[0].blocks == [Text(text="a")]


def test_citations_and_log_probabilities() -> None:
    cited = {
        "type": "url_citation",
        "url": "https://a",
        "title": "A",
        "start_index": 0,
        "end_index": 1,
    }
    tokens = [{"token": "a", "logprob": -0.5, "top_logprobs": []}]
    answer = read(
        *(added(**MESSAGE), part(**TEXT), delta("output_text", "a", logprobs=tokens)),
        event("output_text.annotation.added", annotation=cited),
        event("output_text.annotation.added", annotation={"type": "file_path"}),
        *(part_done(**TEXT), event("output_text.annotation.added", annotation=cited)),
        item_done(**MESSAGE),
    )
    (candidate,) = answer.candidates
    citation = Citation("https://a", "A", start=0, end=1)
    assert candidate.blocks == [Text(text="a", citations=[citation])]
    assert candidate.logprobs == [TokenLogprob("a", -0.5)]


@each(
    ("documents", "message"),
    [
        ([CREATED], "without its last event"),
        ([CREATED, added(**MESSAGE), part(**TEXT)], "without its last event"),
        ([CREATED, added(**CALL), delta("output_text", "a")], "text outside of its item"),
        ([CREATED, delta("function_call_arguments", "a")], "text outside of its item"),
        ([CREATED, added(type="function_call", id="fc_1"), COMPLETED], "without a name"),
    ],
)
def test_broken_streams(documents: list[Json], message: str) -> None:
    with pytest.raises(BrokenAnswer, match=message):
        list(events_of(*documents))


def test_items_of_one_index_are_told_apart_by_their_ids() -> None:
    other = {**CALL, "id": "fc_9", "call_id": "c_9"}
    answer = read(
        *(added(**MESSAGE), delta("output_text", "a", item_id=MESSAGE["id"])),
        *(added(**CALL), added(**other)),
        delta("function_call_arguments", '{"b":1}', item_id="fc_9"),
        delta("function_call_arguments", '{"a":1}', item_id=CALL["id"]),
        *(item_done(**{**CALL, "arguments": '{"a":1}'}), item_done(**other)),
    )
    text, *calls = answer.candidates[0].blocks
    assert text == Text(text="a")
    assert [(call.id, call.arguments) for call in calls] == [
        (CALL["call_id"], '{"a":1}'),
        ("c_9", '{"b":1}'),
    ]


def test_the_error_of_a_failed_response_may_stand_beside_it() -> None:
    failed = {**RESPONSE, "status": "failed", "error": None}
    document = {"type": "response.failed", "response": failed, "error": {"message": "Gone"}}
    with pytest.raises(UpstreamError, match="Gone"):
        list(events_of(CREATED, document))


ERROR = {"code": "rate_limit_exceeded", "message": "Slow down"}


@each(
    "document",
    [
        {"type": "error", **ERROR, "param": None, "sequence_number": 3},
        {"type": "error", "error": {**ERROR, "type": "requests"}},
        {"error": ERROR},
        {"type": "response.failed", "response": {**RESPONSE, "status": "failed", "error": ERROR}},
    ],
)
def test_errors(document: Json) -> None:
    with pytest.raises(UpstreamError) as excinfo:
        list(events_of(CREATED, document))
    error = excinfo.value
    assert (error.status, error.message, error.code) == (429, "Slow down", "rate_limit_exceeded")


def test_what_follows_the_end_is_passed_over() -> None:
    reader = Reader()
    for document in (CREATED, COMPLETED):
        list(reader.read(json.dumps(document).encode()))
    assert [*reader.read(b"[DONE]"), *reader.read(b"not JSON"), *reader.end()] == []


def test_what_is_not_asked_for_may_have_any_value() -> None:
    odd: Json = {"type": "response.in_progress", "response": {"id": 5, "output": "none"}}
    text = [part(**TEXT, annotations=5), delta("output_text", "a"), event("new", delta={})]
    assert blocks_of(odd, *text, item_done(**{**FULL_ITEM, "id": 5, "content": 5})) == [
        Text(text="a")
    ]


def _at(index: int, *documents: Json) -> list[Json]:
    return [{**document, "output_index": index} for document in documents]


def _call(index: int, *arguments: str) -> list[Json]:
    """The events of a call, without its end."""
    call = {**CALL, "call_id": f"c{index}"}
    deltas = [delta("function_call_arguments", each) for each in arguments]
    return _at(index, added(**call, arguments=""), *deltas)


def _call_done(index: int, arguments: str) -> list[Json]:
    return _at(index, item_done(**{**CALL, "call_id": f"c{index}"}, arguments=arguments))


def test_several_items_may_be_open_at_once() -> None:
    first, second = _call(0, '{"a"', ":0}"), _call(1, '{"a"', ":1}")
    mixed = [each for pair in zip(first, second, strict=True) for each in pair]
    for ends in (
        _call_done(0, '{"a":0}') + _call_done(1, '{"a":1}'),
        _call_done(1, '{"a":1}') + _call_done(0, '{"a":0}'),
        [],
    ):
        assert blocks_of(*mixed, *ends) == [
            ToolCall(id="c0", name="f", arguments='{"a":0}'),
            ToolCall(id="c1", name="f", arguments='{"a":1}'),
        ]


def test_a_text_waits_for_the_thoughts_before_it() -> None:
    thoughts = _at(0, added(**THOUGHT), delta("reasoning_text", "hm"))
    text = _at(1, added(**MESSAGE), part(**TEXT), delta("output_text", "ab"), item_done(**MESSAGE))
    end = _at(0, item_done(**THOUGHT))
    assert blocks_of(*thoughts, *text, *end) == [
        Reasoning(text="hm"),
        Text(text="ab"),
    ]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 500)
    with pytest.raises(BrokenAnswer, match="over 500 characters that must be buffered"):
        blocks_of(*_call(0, "{"), *_call(1, *"{" * 9))


def _completed(*output: Json) -> Json:
    return {**COMPLETED, "response": {**COMPLETED["response"], "output": [*output]}}


def test_calls_and_texts_that_only_the_last_event_has_are_not_lost() -> None:
    calls = [{**CALL, "call_id": f"c{number}", "arguments": "{}"} for number in range(2)]
    streamed = [*_call(0, "{}"), *_call_done(0, "{}")]
    answer = collect(events_of(CREATED, *streamed, _completed(calls[0], FULL_ITEM, calls[1])))
    assert answer.candidates[0].blocks == [
        ToolCall(id="c0", name="f", arguments="{}"),
        Text(text="ab"),
        ToolCall(id="c1", name="f", arguments="{}"),
    ]


def test_a_text_without_the_events_of_its_item_is_not_read_again() -> None:
    answer = collect(events_of(CREATED, delta("output_text", "ab"), _completed(FULL_ITEM)))
    assert answer.candidates[0].blocks == [Text(text="ab")]


def test_a_mark_of_an_item_that_is_done_opens_no_other() -> None:
    cited = {"type": "url_citation", "url": "https://a"}
    late = _at(0, event("output_text.annotation.added", annotation=cited))
    message = _at(0, added(**MESSAGE), delta("output_text", "ab"), item_done(**FULL_ITEM))
    events = list(events_of(CREATED, *message, *late, *_call(1, "{}"), COMPLETED))
    assert [event.block for event in events if isinstance(event, Open)] == [
        Text(text=""),
        ToolCall(id="c1", name="f"),
    ]


def test_a_refusal_that_only_its_done_event_has_is_not_lost() -> None:
    refused = event("refusal.done", refusal="No")
    for begin in ([added(**MESSAGE)], [added(**MESSAGE), part(type="refusal", refusal="")], []):
        assert blocks_of(*begin, refused, item_done(**MESSAGE)) == [Refusal(text="No")]
