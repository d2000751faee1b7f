"""The deltas of a choice -> neutral events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from engine.translations.chat_completions.answer_fields import Message
from engine.translations.chat_completions.choice_reader import ChoiceReader
from engine.translations.neutral.answer import collect
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.content import (
    Citation,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, End, Event, Finish, Start
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each

Json = dict[str, Any]


def events_of(*deltas: Json, reason: str = "stop") -> Iterator[Event]:
    """The events of a choice, checked against the law."""
    reader, law = ChoiceReader(0, "chatcmpl-1"), AnswerState()

    def events() -> Iterator[Event]:
        yield Start()
        for delta in deltas:
            deltas_events: list[Event] = []
            reader.delta(msgspec.json.decode(json.dumps(delta), type=Message), deltas_events)
            yield from deltas_events
        reader.stop(reason)
        yield from reader.close()
        yield End(finishes={0: reader.finish or Finish(stop="end")})

    for event in events():
        law.check(event)
        yield event


def read(*deltas: Json) -> list[Any]:
    return collect(events_of(*deltas)).candidates[0].blocks


def finish(*deltas: Json, reason: str) -> str:
    return collect(events_of(*deltas, reason=reason)).candidates[0].finish.stop


def call(index: int | None, arguments: str = "", **members: str) -> Json:
    """A fragment of a call: with its `id` and `name` or without."""
    function = {"arguments": arguments}
    if "name" in members:
        function["name"] = members["name"]
    fragment: Json = {"function": function}
    if index is not None:
        fragment["index"] = index
    if "id" in members:
        fragment.update(id=members["id"], type="function")
    return fragment


def calls(*fragments: Json) -> Json:
    return {"tool_calls": list(fragments)}


def names_and_arguments(*deltas: Json) -> list[tuple[str, str]]:
    return [(block.name, block.arguments) for block in read(*deltas)]


@each(
    ("deltas", "blocks"),
    [
        ([{"role": "assistant", "content": ""}], []),
        ([{"content": "a"}, {"content": None}, {"content": "b"}], [Text(text="ab")]),
        ([{"content": "a", "tool_calls": []}], [Text(text="a")]),
        ([{"refusal": "N"}, {"refusal": "o"}], [Refusal(text="No")]),
        ([{"content": "a", "refusal": "No"}], [Text(text="a"), Refusal(text="No")]),
        (
            [{"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "a"}],
            [
                Reasoning(text="hm", signature=Signature("chat_completions", "reasoning_content")),
                Text(text="a"),
            ],
        ),
        (
            [{"reasoning": "hm", "reasoning_content": None, "content": "a"}],
            [
                Reasoning(text="hm", signature=Signature("chat_completions", "reasoning")),
                Text(text="a"),
            ],
        ),
        (
            [calls(call(0, id="c1", name="f")), calls(call(0, '{"a":')), calls(call(0, "1.0}"))],
            [ToolCall(id="c1", name="f", arguments='{"a":1.0}')],
        ),
        (
            [calls(call(0, '{"a":1}', id="c1", name="f"))],
            [ToolCall(id="c1", name="f", arguments='{"a":1}')],
        ),
        (
            [{"content": "I look.", **calls(call(0, "{}", id="c1", name="f"))}],
            [Text(text="I look."), ToolCall(id="c1", name="f", arguments="{}")],
        ),
        (
            [
                {
                    "images": [
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
                    ]
                }
            ],
            [Media(kind="image", source=Inline("image/png", "iVBO"))],
        ),
        (
            [{"images": [{"image_url": {"url": "https://a/b"}}]}],
            [Media(kind="image", source=Link("https://a/b"))],
        ),
    ],
)
def test_blocks(deltas: list[Json], blocks: list[object]) -> None:
    assert read(*deltas) == blocks


def thinking(*texts: str) -> Json:
    parts = [{"type": "text", "text": text} for text in texts]
    return {"type": "thinking", "thinking": parts, "closed": True}


@each(
    ("content", "blocks"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], [Text(text="ab")]),
        (
            [thinking("h", "m"), {"type": "text", "text": "a"}],
            [Reasoning(text="hm"), Text(text="a")],
        ),
        ([{"type": "reference", "reference_ids": [1]}], []),
        ([thinking(), {"type": "text"}], []),
        ([], []),
    ],
)
def test_a_content_that_is_a_list(content: list[Json], blocks: list[object]) -> None:
    assert read({"role": "assistant", "content": content}) == blocks


def test_thoughts_and_texts_in_lists_follow_one_another_in_a_stream() -> None:
    deltas = [{"content": [thinking("h")]}, {"content": [thinking("m")]}, {"content": "a"}]
    assert read(*deltas, {"content": "b"}) == [Reasoning(text="hm"), Text(text="ab")]


def test_the_order_of_text_calls_and_thoughts_is_kept() -> None:
    blocks = read(
        {"reasoning_content": "1"},
        {"content": "2"},
        {"reasoning_content": "3"},
        calls(call(0, '{"a":4}', id="c1", name="f")),
        {"content": "5"},
    )
    kinds = ["Reasoning", "Text", "Reasoning", "ToolCall", "Text"]
    assert [type(block).__name__ for block in blocks] == kinds


@each(
    "fragments",
    [
        # one after another
        [call(0, id="1", name="f"), call(0, '{"a":1}'), call(1, id="2", name="g"), call(1, "{}")],
        # interleaved
        [
            *(call(0, '{"a"', id="1", name="f"), call(1, "{", id="2", name="g")),
            *(call(0, ":1}"), call(1, "}")),
        ],
        # whole calls of one index
        [call(0, '{"a":1}', id="1", name="f"), call(0, "{}", id="2", name="g")],
        # no index at all, with ids and without
        [call(None, '{"a":1}', id="1", name="f"), call(None, "{}", id="2", name="g")],
        [call(None, '{"a":1}', name="f"), call(None, "{}", name="g")],
        [call(None, name="f"), call(None, '{"a":1}'), call(None, name="g"), call(None, "{}")],
        # one id for both
        [call(0, '{"a":1}', id="1", name="f"), call(1, "{}", id="1", name="g")],
        # id and name in every fragment
        [
            *(call(0, '{"a"', id="1", name="f"), call(0, ":1}", id="1", name="f")),
            call(1, "{}", id="2", name="g"),
        ],
        # an empty fragment for a call that has ended
        [call(0, '{"a":1}', id="1", name="f"), call(1, "{}", id="2", name="g"), call(0, "")],
    ],
)
def test_two_calls(fragments: list[Json]) -> None:
    expected = [("f", '{"a":1}'), ("g", "{}")]
    assert names_and_arguments(*(calls(each) for each in fragments)) == expected
    assert names_and_arguments(calls(*fragments)) == expected


@each(("beginning", "end"), [('{"a":', "1}"), ('{"a":"}', '"}'), ('{"a":{}', "}")])
def test_text_waits_for_the_end_of_a_call(beginning: str, end: str) -> None:
    blocks = read(
        calls(call(0, beginning, id="c1", name="f")), {"content": "Hi"}, calls(call(0, end))
    )
    assert blocks == [ToolCall(id="c1", name="f", arguments=beginning + end), Text(text="Hi")]


def test_a_call_without_an_id_gets_one_of_its_own() -> None:
    first, second = read(calls(call(None, "{}", name="f"), call(None, "{}", name="f")))
    assert first.id.startswith("call_")
    assert first.id != second.id


def test_the_older_form_of_a_call() -> None:
    (block,) = read(
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"a":1}'}},
    )
    assert (block.name, block.arguments) == ("f", '{"a":1}')


@each(
    ("deltas", "message"),
    [
        ([calls(call(0, "{}"))], "a tool call without a name"),
        (
            [
                calls(call(0, '{"a": 1}', id="1", name="f")),
                calls(call(1, '{"a": 1}', id="2", name="g")),
                calls(call(0, "{}")),
            ],
            "continues a tool call that had ended",
        ),
    ],
)
def test_broken_calls(deltas: list[Json], message: str) -> None:
    with pytest.raises(BrokenAnswer, match=message):
        read(*deltas)


@each("audio", [{"id": "audio_1", "data": "AA==", "transcript": "Hi"}, {"transcript": "H"}])
def test_a_sound_is_no_empty_answer(audio: Json) -> None:
    with pytest.raises(BrokenAnswer, match="has audio, which was not asked for"):
        read({"content": None, "audio": audio})


@each(
    "waiting",
    [
        {"content": "x" * 20},
        {"tool_calls": [call(1, "x" * 20, id="2", name="g")]},
        {"images": [{"image_url": {"url": "https://a/b"}}]},
    ],
)
def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch, waiting: Json) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 500)
    deltas = [calls(call(0, '{"a":', id="c1", name="f")), *[waiting] * 10]
    with pytest.raises(BrokenAnswer, match="over 500 characters"):
        read(*deltas)


def test_arguments_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 50)
    with pytest.raises(BrokenAnswer, match="over 50 characters"):
        read(calls(call(0, id="c1", name="f")), *[calls(call(0, "x" * 20))] * 3)


def citation(**span: int) -> Json:
    return {"type": "url_citation", "url_citation": {"url": "https://a", "title": "A", **span}}


def span(start: int, end: int) -> Json:
    return citation(start_index=start, end_index=end)


def test_citations_beside_a_call_belong_to_the_text() -> None:
    delta = {"content": "Hello", "annotations": [span(1, 3)]}
    text, _ = read({**delta, **calls(call(0, "{}", id="c", name="f"))})
    assert text.citations == [Citation("https://a", "A", start=1, end=3)]


def test_spans_of_citations_are_counted_from_the_beginning_of_their_block() -> None:
    blocks = read(
        {"content": "12345"},
        {"reasoning_content": "hm"},
        {"content": "6789", "annotations": [span(5, 7), span(0, 2), citation()]},
    )
    spans = [(each.start, each.end) for each in blocks[2].citations]
    assert spans == [(0, 2), (None, None), (None, None)]


def test_annotations_of_another_kind_are_passed_over() -> None:
    assert read({"content": "a", "annotations": [{"type": "file"}]}) == [Text(text="a")]


def test_details_of_thoughts_keep_all_but_their_text_as_their_signature() -> None:
    blocks = read(
        {"reasoning": "A", "reasoning_details": [detail(0, text="A", format="x")]},
        {"reasoning_details": [detail(0, text="B")]},
        {"reasoning_details": [detail(0, signature="s")]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "d"}]},
    )
    assert [block.text for block in blocks] == ["AB", ""]
    assert [json.loads(block.signature.value) for block in blocks] == [
        {"type": "reasoning.text", "index": 0, "format": "x", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "d"},
    ]


def detail(index: int, **members: str) -> Json:
    return {"type": "reasoning.text", "index": index, **members}


def test_a_repeated_entry_of_thoughts_says_nothing_new() -> None:
    entry = {"reasoning_details": [detail(0, text="A", signature="s")]}
    again = {"reasoning_details": [detail(0, signature="s")]}
    blocks = read(entry, {"content": "a"}, again)
    assert [type(block) for block in blocks] == [Reasoning, Text]


def test_entries_of_thoughts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 500)
    changing = [{"reasoning_details": [detail(0, signature=f"{n:090}")]} for n in range(10)]
    with pytest.raises(BrokenAnswer, match="over 500 characters"):
        read(*changing)


@each(
    ("reason", "has_call", "stop"),
    [
        ("stop", False, "end"),
        ("stop", True, "tool_calls"),
        ("tool_calls", True, "tool_calls"),
        ("function_call", True, "tool_calls"),
        ("length", True, "length"),
        ("model_length", False, "length"),
        ("content-filter", False, "filter"),
        ("RECITATION", False, "filter"),
        ("content_filter", False, "filter"),
        ("eos", False, "end"),
    ],
)
def test_finish_reasons(reason: str, has_call: bool, stop: str) -> None:
    delta = calls(call(0, "{}", id="c", name="f")) if has_call else {"content": "a"}
    assert finish(delta, reason=reason) == stop


@each(
    ("reason", "sequence", "expected"),
    [
        ("stop", "END", ("stop_sequence", "END")),
        ("stop", 128_001, ("end", "")),  # vLLM: the number of a token
        ("stop", None, ("end", "")),
        ("length", "END", ("length", "")),
        ("tool_calls", "END", ("tool_calls", "")),
    ],
)
def test_the_stop_sequence_that_was_met(
    reason: str, sequence: Any, expected: tuple[str, str]
) -> None:
    reader = ChoiceReader(0, "")
    reader.stop(reason, sequence)
    assert list(reader.close()) == []
    assert reader.finish is not None
    assert (reader.finish.stop, reader.finish.sequence) == expected


@each("reason", ["error", "abort", "insufficient_system_resource", "network_error"])
def test_reasons_that_mean_a_failure(reason: str) -> None:
    with pytest.raises(BrokenAnswer, match=f"aborted: {reason}"):
        finish({"content": "a"}, reason=reason)


def test_the_first_reason_counts() -> None:
    reader = ChoiceReader(0, "")
    reader.stop("length")
    reader.stop("stop")
    assert reader.finish == Finish(stop="length", native="length")


def test_a_name_may_come_in_pieces_and_behind_the_id() -> None:
    pieces = [calls(call(0, id="c", name="get_")), calls(call(0, name="weather"))]
    assert names_and_arguments(*pieces, calls(call(0, "{}"))) == [("get_weather", "{}")]
    late = [calls({"index": 0, "id": "c", "function": None}), calls(call(0, name="f"))]
    assert names_and_arguments(*late, calls(call(0, "{}"))) == [("f", "{}")]
    with pytest.raises(BrokenAnswer, match="changes the name"):
        read(calls(call(0, "{", id="c", name="f")), calls(call(0, "}", name="g")))


def test_a_call_without_arguments_keeps_its_place() -> None:
    announced = calls(call(0, id="a", name="f"), call(1, id="b", name="g"))
    assert names_and_arguments(announced, calls(call(1, '{"a":1}'))) == [
        ("f", ""),
        ("g", '{"a":1}'),
    ]
    assert read(calls(call(0, id="a", name="f")), {"content": "x"}) == [
        ToolCall(id="a", name="f"),
        Text(text="x"),
    ]


EMPTY = {
    "audio": {"data": "", "expires_at": 0, "id": "", "transcript": ""},
    "function_call": {"arguments": "", "name": ""},
    "refusal": "",
}


def test_members_with_empty_values_say_nothing() -> None:
    assert read({"content": "a", **EMPTY, "tool_calls": None}) == [Text(text="a")]
    entry = {**call(0, "{}", id="c", name="f"), "custom": {"input": "", "name": ""}}
    called = [ToolCall(id="c", name="f", arguments="{}")]
    assert read({"content": "", **EMPTY, "tool_calls": [entry]}) == called
    with pytest.raises(BrokenAnswer, match="has audio"):
        read({"audio": {**EMPTY["audio"], "data": "AAAA"}})  # type: ignore[dict-item]


def test_a_call_that_is_said_in_both_members_is_one() -> None:
    function = {"name": "f", "arguments": "{}"}
    both = {"function_call": function, **calls(call(0, "{}", id="c", name="f"))}
    assert read(both) == [ToolCall(id="c", name="f", arguments="{}")]


@each(
    ("part", "block"),
    [
        ({"text": "a"}, Text(text="a")),
        ({"type": "output_text", "text": "a"}, Text(text="a")),
        ({"type": "refusal", "refusal": "No"}, Refusal(text="No")),
        ({"type": "thinking", "thinking": "hm"}, Reasoning(text="hm")),
        (
            {"type": "reasoning", "summary": [{"text": "hm", "signature": "s"}]},
            Reasoning(text="hm"),
        ),
        (
            {"type": "image_url", "image_url": "https://a/i"},
            Media(kind="image", source=Link("https://a/i")),
        ),
    ],
)
def test_a_part_of_a_content_is_what_its_members_say(part: Json, block: object) -> None:
    assert read({"content": [part]}) == [block]


@each("part", [{"type": "document_url", "document_url": "https://a"}, {"type": "tool_file"}])
def test_a_part_of_an_unknown_kind_is_not_lost_silently(part: Json) -> None:
    with pytest.raises(BrokenAnswer, match=f"content of the kind '{part['type']}'"):
        read({"content": [part]})


def test_an_image_without_its_url_is_not_lost_silently() -> None:
    with pytest.raises(WrongType, match="an image with its URL"):
        read({"images": [{"type": "image_url", "b64_json": "AAAA"}]})


def _cited(start: int, end: int) -> Json:
    place = {"url": "https://a", "title": "A", "start_index": start, "end_index": end}
    return {"annotations": [{"type": "url_citation", "url_citation": place}]}


def test_citations_before_the_text_and_behind_it_belong_to_it() -> None:
    for deltas in (
        [{"content": "", **_cited(1, 2)}, {"content": "abc"}],
        [{"content": "abc"}, calls(call(0, "{}", id="c", name="f")), _cited(1, 2)],
    ):
        text = read(*deltas)[0]
        assert text == Text(text="abc", citations=[Citation("https://a", "A", "", 1, 2)])


ONE, TWO = '{"city":"Wien"}', '{"city":"{Graz}"}'


def _call(arguments: str) -> Json:
    return {"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}


@each(
    ("arguments", "calls"),
    [
        (ONE + TWO, [ONE, TWO]),
        (f"{ONE}\n {TWO}", [ONE, TWO]),
        (ONE + ONE, [ONE]),
        ("{}" + ONE, [ONE]),
        (ONE + TWO + "}", [ONE, TWO]),
        ('{"code":"}{"}', ['{"code":"}{"}']),
    ],
)
def test_arguments_of_several_calls_in_one_text_are_several_calls(
    arguments: str, calls: list[str]
) -> None:
    """As of servers that give all calls one index and join the text that belongs together:
    https://github.com/diegosouzapw/OmniRoute/pull/11043."""
    deltas = [{"tool_calls": [_call(arguments)]}]
    assert [(each.name, each.arguments) for each in read(*deltas)] == [("f", o) for o in calls]
    whole = ChoiceReader(0, "chatcmpl-1")
    whole.is_whole = True
    events: list[Event] = [Start()]
    whole.delta(msgspec.json.decode(json.dumps(deltas[0]), type=Message), events)
    events += [*whole.close(), End(finishes={0: Finish(stop="tool_calls")})]
    blocks: list[Any] = collect(events).candidates[0].blocks
    assert [each.arguments for each in blocks] == calls
    assert len({each.id for each in blocks}) == len(calls)


def test_the_second_object_of_a_text_may_go_on() -> None:
    more = {"tool_calls": [{"index": 0, "function": {"arguments": TWO[5:]}}]}
    calls = read({"tool_calls": [_call(ONE + TWO[:5])]}, more)
    assert [each.arguments for each in calls] == [ONE, TWO]
