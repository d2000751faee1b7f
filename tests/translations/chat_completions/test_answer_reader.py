"""Chat completions answers and chunks -> neutral events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from engine.translations.chat_completions.answer_reader import Reader, read_answer
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.content import Reasoning, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Finish,
    Start,
    TokenLogprob,
    UpstreamError,
)
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each

Json = dict[str, Any]

HEAD: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "gpt"}
STOP: Json = {"index": 0, "delta": {}, "finish_reason": "stop"}
COUNTS = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def chunk(*choices: Json, **members: Any) -> bytes:
    return json.dumps({**HEAD, "choices": choices, **members}).encode()


def text(value: str, index: int = 0, **members: Any) -> Json:
    return {"index": index, "delta": {"content": value}, **members}


def read(chunks: Iterable[bytes]) -> Answer:
    reader = Reader()
    return collect([*(e for each in chunks for e in reader.read(each)), *reader.end()])


PAGES = {"search_results": [{"title": "A", "url": "https://a", "date": None}], "citations": []}
MARK = {"type": "url_citation", "url_citation": {"url": "https://own"}}
CITING = {"index": 0, "delta": {"content": "Hi", "annotations": [MARK]}}


@each(
    "first,members,urls",
    [
        (text("Hi"), PAGES, ["https://a"]),
        (text("Hi"), {"citations": ["https://b", "https://c"]}, ["https://b", "https://c"]),
        (text("Hi"), {"search_results": None, "citations": "none"}, []),
        (text("Hi"), {"citations": [7]}, []),
        (CITING, PAGES, ["https://own"]),
    ],
)
def test_pages_beside_the_choices_are_cited(first: Json, members: Json, urls: list[str]) -> None:
    """Perplexity names them in each chunk, in one of them, or in an answer in one piece."""
    first_chunk, last_chunk = chunk(first, **members), chunk(STOP, **members)
    answers = [
        read([first_chunk, last_chunk, b"[DONE]"]),
        read([first_chunk, chunk(STOP), b"[DONE]"]),
        read([first_chunk, chunk(STOP, search_results=[], citations=None), b"[DONE]"]),
        read([chunk(first), last_chunk, b"[DONE]"]),
    ]
    whole = {"index": 0, "message": first["delta"], "finish_reason": "stop"}
    answers.append(collect(read_answer(chunk(whole, **members))))
    for answer in answers:
        (block,) = answer.candidates[0].blocks
        assert [each.url for each in block.citations] == urls


def test_pages_are_cited_while_the_text_is_open() -> None:
    """Streams of Anthropic's format have no place for them behind it; behind a call they are late.
    Both say the same of the answer."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}
    for chunks, late in (
        ([chunk(text("Hi")), chunk(STOP, **PAGES)], False),
        ([chunk(text("Hi")), chunk({"index": 0, "delta": {"tool_calls": [call]}}, **PAGES)], True),
    ):
        reader = Reader()
        sequence = [e for each in (*chunks, chunk(STOP, **PAGES)) for e in reader.read(each)]
        sequence += reader.end()
        assert [each.late for each in sequence if isinstance(each, Cite)] == [late]
        block = collect(sequence).candidates[0].blocks[0]
        assert isinstance(block, Text)
        assert [each.url for each in block.citations] == ["https://a"]


@each("thoughts", ["hm", ["h", "m"], [{"type": "text", "text": "hm"}], {"text": "hm"}])
def test_thoughts_may_be_parts_or_a_list_of_texts(thoughts: object) -> None:
    for name in ("reasoning", "reasoning_content"):
        delta = {"index": 0, "delta": {name: thoughts}}
        answer = read([chunk(delta), chunk(text("Hi", finish_reason="stop"))])
        (reasoning, _) = answer.candidates[0].blocks
        assert isinstance(reasoning, Reasoning)
        assert reasoning.text == "hm"


def test_pages_without_a_text_are_left_out() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    whole = {"index": 0, "message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    assert len(collect(read_answer(chunk(whole, **PAGES))).candidates[0].blocks) == 1


def complete_answer(**members: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, **members}
    return collect(read_answer(json.dumps({**HEAD, "choices": [choice]}).encode()))


@each(
    "chunks",
    [
        [chunk(text("Hi")), chunk(STOP), b"[DONE]"],
        [chunk(text("Hi")), chunk(STOP)],  # no end marker
        [chunk(text("Hi", finish_reason="stop")), b" [DONE] "],
        [chunk(text("Hi")), chunk(STOP), chunk(STOP), b"[DONE]"],
        [chunk(text("Hi", finish_reason="")), chunk(STOP), b"[DONE]", b"not JSON"],
        [chunk(prompt_filter_results=[], id="", model=""), chunk(text("Hi")), chunk(STOP)],
    ],
)
def test_complete_streams(chunks: list[bytes]) -> None:
    answer = read(chunks)
    (candidate,) = answer.candidates
    assert (answer.id, answer.model, answer.created) == ("chatcmpl-1", "gpt", 7)
    assert (candidate.blocks, candidate.finish.stop) == ([Text(text="Hi")], "end")


@each(
    ("chunks", "message"),
    [
        ([], "has no choices"),
        ([b"[DONE]"], "has no choices"),
        ([chunk(usage=COUNTS), b"[DONE]"], "has no choices"),
        ([chunk(text("Hi"))], "without a finish reason"),
        ([chunk(text("Hi")), b"[DONE]"], "without a finish reason"),  # the marker proves nothing
        ([chunk(text("Hi")), chunk(STOP, text("Ho", index=1))], "without a finish reason"),
        ([chunk({**STOP, "finish_reason": "error"})], "aborted: error"),
    ],
)
def test_incomplete_streams(chunks: list[bytes], message: str) -> None:
    with pytest.raises(BrokenAnswer, match=message):
        read(chunks)


def test_an_answer_in_one_piece_may_lack_a_finish_reason() -> None:
    assert complete_answer(finish_reason=None).candidates[0].finish.stop == "end"
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    candidate = complete_answer(message={"tool_calls": [call]}).candidates[0]
    assert candidate.blocks == [ToolCall(id="c1", name="f", arguments="{}")]
    assert candidate.finish.stop == "tool_calls"


@each(
    "usage",
    [
        {"prompt_tokens": 10.0, "completion_tokens": "4"},
        {"prompt_tokens": [], "completion_tokens": {}, "prompt_tokens_details": []},
        [],
        "12",
        None,
    ],
)
def test_usage_is_no_matter_of_the_language(usage: Any) -> None:
    """The reader of its dialect reads it: nothing that it says breaks an answer."""
    answer = read([chunk(text("Hi")), chunk(STOP, usage=usage), chunk(usage=usage)])
    assert (answer.candidates[0].blocks, answer.usage) == ([Text(text="Hi")], None)


def test_candidates_may_interleave() -> None:
    answer = read(
        [
            *(chunk(text("a", 1)), chunk(text("b"), text("c", 1)), chunk(text("d"))),
            *(chunk({**STOP, "index": 1, "finish_reason": "length"}), chunk(STOP)),
        ]
    )
    texts = [[b.text for b in o.blocks if isinstance(b, Text)] for o in answer.candidates]
    assert texts == [["bd"], ["ac"]]
    assert [each.finish.stop for each in answer.candidates] == ["end", "length"]


@each("index", [-1, 128, 10**30])
def test_the_number_of_candidates_is_bounded(index: int) -> None:
    with pytest.raises(WrongType, match=r"choices\[0\].index"):
        read([chunk(text("Hi", index))])


def test_log_probabilities_of_text_and_refusal() -> None:
    def token(name: str) -> Json:
        top = [{"token": "x", "logprob": -2.0, "bytes": None}]
        return {"token": name, "logprob": -0.5, "bytes": None, "top_logprobs": top}

    tokens = {"content": [token("a")], "refusal": [token("b")]}
    answer = read([chunk(text("a", logprobs=tokens)), chunk({**STOP, "logprobs": {}})])
    top = [("x", -2.0)]
    assert answer.candidates[0].logprobs == [
        TokenLogprob("a", -0.5, top),
        TokenLogprob("b", -0.5, top),
    ]


ERROR = {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}


@each("data", [{"error": ERROR}, {**HEAD, "choices": [{**STOP, "error": ERROR}]}])
def test_an_error_in_a_stream(data: Json) -> None:
    reader = Reader()
    with pytest.raises(UpstreamError) as excinfo:
        list(reader.read(json.dumps(data).encode()))
    error = excinfo.value
    assert (error.status, error.message, error.code) == (429, "Slow down", "rate_limit_exceeded")


def test_an_error_in_an_answer_of_200() -> None:
    with pytest.raises(UpstreamError, match="Slow down"):
        list(read_answer(json.dumps({"error": ERROR}).encode()))


def test_a_null_error_is_none() -> None:
    assert read([chunk(text("Hi"), error=None), chunk(STOP)]).candidates


def test_the_beginning_comes_once_with_the_first_choice() -> None:
    reader = Reader()
    events = [*reader.read(chunk()), *reader.read(chunk(text("a"))), *reader.read(chunk(text("b")))]
    assert [type(event) for event in events].count(Start) == 1


def test_calls_without_ids_get_different_ones_in_each_turn() -> None:
    call = {"function": {"name": "f", "arguments": "{}"}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    first, second = (
        read([chunk(choice, id="", created=time)]).candidates[0].blocks[0] for time in (1, 2)
    )
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert first.id != second.id


def test_what_is_not_asked_for_may_have_any_value() -> None:
    odd = {"role": 5, "audio": [], "annotations": "none", "content": None}
    answer = read(
        [
            chunk({"index": 0, "delta": odd, "message": 5}),
            chunk(text("Hi"), id=5, model=[], created="later"),
            chunk(STOP),
        ]
    )
    assert answer.candidates[0].blocks == [Text(text="Hi")]


@each(
    "choices",
    [
        [{"index": 0, "message": {"content": "Hi"}}],
        [{"index": 0, "delta": None, "message": {"content": "Hi"}}],
        [{"index": 0, "delta": {}, "message": {"content": "Hi"}}],
        [{"index": 0, "text": "H"}, {"index": 0, "text": "i"}],
        [{"index": 0, "delta": {"text": "H"}}, {"index": 0, "delta": {"text": "i"}}],
        [text("Hi"), {"index": 0, "delta": {}, "message": {"content": "Hi"}}],  # said again
        [text("Hi"), {"index": 0, "message": {"content": "Hi"}}],
    ],
)
def test_the_content_of_a_chunk_may_be_in_another_member(choices: list[Json]) -> None:
    assert read([*map(chunk, choices), chunk(STOP)]).candidates[0].blocks == [Text(text="Hi")]


def test_an_answer_in_one_piece_may_have_a_delta() -> None:
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    answer = collect(read_answer(json.dumps({**HEAD, "choices": [choice]}).encode()))
    assert answer.candidates[0].blocks == [Text(text="Hi")]


def test_an_answer_without_a_reason_is_complete_with_its_usage_and_the_end_marker() -> None:
    chunks = [chunk(text("Hi")), chunk(usage=COUNTS)]
    assert read([*chunks, b"[DONE]"]).candidates[0].finish == Finish(stop="end")
    for broken in (chunks, [chunks[0], b"[DONE]"], [chunks[1], chunks[0], b"[DONE]"]):
        with pytest.raises(BrokenAnswer, match="without a finish reason"):
            read(broken)


def call(index: int, name: str, arguments: str) -> bytes:
    function = {"name": name, "arguments": arguments}
    part = {"index": index, "id": f"c{index}" if name else "", "function": function}
    return chunk({"index": 0, "delta": {"tool_calls": [part]}})


@each(
    ("chunks", "arguments"),
    [
        ([call(0, "f", '{"a":1}')], ['{"a":1}']),
        ([call(0, "f", "")], ["{}"]),
        ([call(0, "f", '"{\\"a\\":1}"')], ['{"a":1}']),
        ([call(0, "f", '"{\\"a\\":')], None),
        ([call(0, "multi_tool_use.parallel", '{"tool_uses": [{"rec')], None),
        (
            [call(0, "f", '{"a":'), call(1, "g", '{"b":1}'), call(0, "", "1}")],
            ['{"a":1}', '{"b":1}'],
        ),
        ([call(0, "f", '{"a":'), call(1, "g", '{"b":'), call(0, "", "1}")], None),
        ([call(0, "f", '{"a":'), chunk(text("Hi")), call(0, "", "1}")], None),
        ([call(0, "f", '{"a":1}'), call(1, "g", '"{')], None),
    ],
)
def test_a_stream_without_a_reason_is_complete_if_each_call_is_whole(
    chunks: list[bytes], arguments: list[str] | None
) -> None:
    if arguments is None:
        with pytest.raises(BrokenAnswer, match="without a finish reason"):
            read([*chunks, b"[DONE]"])
        return
    blocks = read([*chunks, b"[DONE]"]).candidates[0].blocks
    texts = [block.arguments or "{}" for block in blocks if isinstance(block, ToolCall)]
    assert texts == arguments


@each(
    "choice",
    [
        {"index": 0, "finish_reason": "stop"},
        {"message": None, "text": None},
        {"messages": [{"role": "assistant", "content": "Hi"}], "finish_reason": "stop"},
    ],
)
def test_a_choice_without_a_message_is_no_answer(choice: Json) -> None:
    with pytest.raises(BrokenAnswer, match="without a message"):
        collect(read_answer(json.dumps({**HEAD, "choices": [choice]}).encode()))


def test_a_filter_may_leave_the_message_out() -> None:
    choice = {"index": 0, "finish_reason": "content_filter", "content_filter_results": {}}
    answer = collect(read_answer(json.dumps({**HEAD, "choices": [choice]}).encode()))
    (candidate,) = answer.candidates
    assert (candidate.blocks, candidate.finish.stop) == ([], "filter")


def test_a_reason_that_is_empty_is_none_where_text_comes_with_it() -> None:
    with pytest.raises(BrokenAnswer, match="without a finish reason"):
        read([chunk(text("Hi", finish_reason="")), b"[DONE]"])


@each(
    "ends,is_complete",
    [(["stop", "length"], True), (["stop", None], False), ([None, "stop"], False), ([None] * 2, 1)],
)
def test_each_of_several_choices_has_an_end_if_one_has(ends: list[Any], is_complete: bool) -> None:
    choices = [
        {"index": index, "message": {"content": "Hi"}, "finish_reason": end}
        for index, end in enumerate(ends)
    ]
    begun = chunk(text("Hi"), text("Hi", 1))
    last = [
        chunk({"index": index, "delta": {}, "finish_reason": end}) for index, end in enumerate(ends)
    ]
    stream = [begun, *last, chunk(usage=COUNTS), b"[DONE]"]
    whole = json.dumps({**HEAD, "choices": choices}).encode()
    if is_complete:
        assert len(read(stream).candidates) == len(collect(read_answer(whole)).candidates) == 2
        return
    with pytest.raises(BrokenAnswer, match="without a finish reason"):
        read(stream)
    with pytest.raises(BrokenAnswer, match="without a finish reason"):
        collect(read_answer(whole))
