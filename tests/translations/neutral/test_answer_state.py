"""The law of neutral events: what may follow what, and what must agree."""

from __future__ import annotations

from copy import copy, deepcopy

import pytest

from engine.translations.neutral.answer import Assembly, collect
from engine.translations.neutral.answer_state import MAX_BLOCKS, AnswerState
from engine.translations.neutral.content import (
    Block,
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
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    Stop,
    Tokens,
)
from tests.support.each import each

END = End(finishes={0: Finish(stop="end")})
BOTH = End(finishes={0: Finish(stop="end"), 1: Finish(stop="length")})
CALL = ToolCall(id="c", name="f")
FOREIGN = Foreign(kind="y", omissible=True)
MEDIA = Media(kind="image", source=Inline("image/png", ""))
CITE = Cite(Citation(url="https://x"))
SIGN = Sign(Signature("x", "y"))


def check(*answer: Event) -> AnswerState:
    state = AnswerState()
    for event in answer:
        state.check(copy(event))
    return state


@pytest.mark.parametrize(
    "answer",
    [
        [Start(), END],
        [Start(), Open(Text()), Delta("a"), CITE, Delta("b"), Close(), END],
        [
            Start(),
            Open(Reasoning()),
            Delta("a"),
            SIGN,
            Close(),
            Open(CALL),
            Delta("{}"),
            Close(),
            END,
        ],
        [Start(), Open(FOREIGN), Delta(""), Close(), Open(MEDIA), Close(), END],
        [Start(), Tokens([]), Open(Refusal()), Tokens([]), Close(), END],
        [Start(), Open(Text()), Open(Text(), 1), Close(1), Close(), BOTH],
        [Start(), BOTH],
    ],
    ids=["nothing", "text", "thoughts", "whole blocks", "tokens", "candidates", "empty candidate"],
)
def test_a_legal_answer_ends(answer: list[Event]) -> None:
    assert not check(*answer[:-1]).ended
    assert check(*answer).ended


@pytest.mark.parametrize(
    "answer",
    [
        [Open(Text())],
        [END],
        [Start(), Start()],
        [Start(), END, END],
        [Start(), END, Open(Text())],
        [Start(), END, Tokens([])],
        [Start(), Delta("a")],
        [Start(), Close()],
        [Start(), Open(Text()), Open(Text())],
        [Start(), Open(Text()), Delta("a", 1)],
        [Start(), Open(Text()), Close(), Close()],
        [Start(), Open(Text()), END],
        [Start(), Open(Text(), 1), Close(1), END],
        [Start(), End(finishes={})],
        [Start(), End(finishes={1: Finish(stop="end")})],
    ],
)
def test_events_out_of_order_are_refused(answer: list[Event]) -> None:
    state = check(*answer[:-1])
    with pytest.raises(BrokenAnswer, match="out of order"):
        state.check(answer[-1])
    with pytest.raises(BrokenAnswer, match="out of order"):
        Assembly().add(map(copy, answer))


@pytest.mark.parametrize(
    ("block", "event"),
    [
        (FOREIGN, Delta("a")),
        (MEDIA, Delta("a")),
        (Text(), SIGN),
        (CALL, SIGN),
        (Reasoning(), CITE),
        (Refusal(), CITE),
    ],
)
def test_a_block_has_only_what_belongs_to_it(block: Block, event: Event) -> None:
    state = check(Start(), Open(block))
    with pytest.raises(BrokenAnswer, match=r"has a \w+ in a \w+"):
        state.check(event)
    with pytest.raises(BrokenAnswer, match=r"has a \w+ in a \w+"):
        Assembly().add([Start(), Open(block), copy(event)])


def test_the_blocks_of_an_answer_are_bounded() -> None:
    block: list[Event] = [Open(Text()), Close()]
    state = check(Start(), *block * MAX_BLOCKS)
    with pytest.raises(BrokenAnswer, match=f"over {MAX_BLOCKS} blocks"):
        state.check(Open(Text()))


@pytest.mark.parametrize("arguments", ["no JSON", "[1]", '{"a":', '{"a":1}{"a":2}'])
@pytest.mark.parametrize("following", [Open(Text()), END, BOTH])
def test_arguments_that_are_no_object_are_refused(arguments: str, following: Event) -> None:
    state = check(Start(), Open(CALL), *map(Delta, arguments), Close())
    with pytest.raises(BrokenAnswer, match="calls f with arguments that are not a JSON object"):
        state.check(following)


@each("rest", ["}", "\n", " I look now.", "```"])
def test_what_is_behind_whole_arguments_is_left_out(rest: str) -> None:
    events: list[Event] = [Start(), Open(CALL), Delta('{"a":'), Delta("1}" + rest), Close(), END]
    check(*events)
    (block,) = collect(map(deepcopy, events)).candidates[0].blocks
    assert isinstance(block, ToolCall)
    assert block.arguments.strip() == '{"a":1}'


def test_calls_of_one_id_are_told_apart_within_a_candidate() -> None:
    state, calls = AnswerState(), [Open(CALL), Open(CALL), Open(CALL, 1), Open(CALL)]
    state.check(Start())
    for event in calls:
        state.check(event)
        state.check(Close(event.candidate))
    first, second, other, third = [event.block.id for event in calls]  # type: ignore[attr-defined]
    assert first == other == CALL.id == "c"
    assert len({first, second, third}) == 3


def test_arguments_may_be_any_text_where_a_caller_reads_texts() -> None:
    state = AnswerState(any_arguments=True)
    for event in (Start(), Open(CALL), Delta("no JSON"), Close(), END):
        state.check(event)
    assert state.ended


@pytest.mark.parametrize("arguments", ["", " \n", '{"a":{}}'])
def test_arguments_may_come_in_any_pieces(arguments: str) -> None:
    calls = [Open(CALL), *map(Delta, arguments), Close()]
    assert check(Start(), *calls, *calls, END).ended


def test_the_last_arguments_of_a_candidate_may_be_cut_at_the_limit_of_tokens() -> None:
    cut = [Open(CALL, 1), Delta('{"a":', 1), Open(CALL), Delta("{"), Close(1), Delta("}"), Close()]
    assert check(Start(), *cut, BOTH).ended


def test_the_arguments_of_an_answer_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 10)
    call = [Open(CALL), Delta('{"a":1}'), Close()]
    state = check(Start(), *call, Open(CALL))
    with pytest.raises(BrokenAnswer, match="over 10 characters"):
        state.check(Delta('{"a":1}'))


def test_the_citations_of_an_answer_are_bounded() -> None:
    state = check(Start(), Open(Text()), *[CITE] * MAX_BLOCKS)
    with pytest.raises(BrokenAnswer, match=f"over {MAX_BLOCKS} citations"):
        state.check(CITE)


def _ended(stop: Stop, *blocks: Block, sequence: str = "") -> Finish:
    """Why an answer of these blocks ended, by the state."""
    finish = Finish(stop=stop, native="word", sequence=sequence)
    end = End(finishes={0: finish})
    state = check(Start(), *(event for block in blocks for event in (Open(block), Close())))
    state.check(end)
    return end.finishes[0]


@each(
    ("stop", "expected"),
    [
        ("end", "tool_calls"),
        ("stop_sequence", "tool_calls"),
        ("pause", "tool_calls"),
        ("tool_calls", "tool_calls"),
        ("length", "length"),
        ("filter", "filter"),
    ],
)
def test_an_answer_with_a_call_ended_for_it_unless_it_was_cut(stop: Stop, expected: Stop) -> None:
    for blocks in ([CALL], [Text(), CALL], [CALL, Text()]):
        assert _ended(stop, *blocks) == Finish(stop=expected, native="word")


def test_a_call_answers_for_its_own_candidate_alone() -> None:
    end = End(finishes={0: Finish(stop="end"), 1: Finish(stop="end")})
    check(Start(), Open(CALL, 1), Close(1)).check(end)
    assert [finish.stop for finish in end.finishes.values()] == ["end", "tool_calls"]


@each("blocks", [[Text()], [Reasoning(), Text()], [FOREIGN, Text()], [MEDIA, Refusal()]])
def test_a_text_that_ends_for_tool_calls_without_one_has_ended(blocks: list[Block]) -> None:
    assert _ended("tool_calls", *blocks) == Finish(stop="end", native="word")


@each("blocks", [[], [Reasoning()], [FOREIGN], [MEDIA]])
def test_an_end_for_tool_calls_without_one_is_refused(blocks: list[Block]) -> None:
    with pytest.raises(BrokenAnswer, match="ends for tool calls, but it has none"):
        _ended("tool_calls", *blocks)


def test_why_an_answer_without_calls_ended_is_kept() -> None:
    stops: tuple[Stop, ...] = ("end", "length", "filter", "pause")
    assert [_ended(stop, Text()).stop for stop in stops] == [*stops]
    assert _ended("stop_sequence", Text(), sequence="END").sequence == "END"


def _carried(block: Block) -> Block:
    """A block as the law gives it on."""
    state, opened = AnswerState(), Open(block)
    state.check(Start())
    state.check(opened)
    return opened.block


def test_content_that_the_callers_language_does_not_have_is_refused_by_its_name() -> None:
    with pytest.raises(BrokenAnswer, match="content of the kind 'y', which this format"):
        _carried(Foreign(kind="y"))


def test_what_a_vendor_runs_itself_is_no_content() -> None:
    assert _carried(FOREIGN) is FOREIGN


def test_a_block_becomes_its_substitute() -> None:
    assert _carried(Foreign(kind="y", substitute=MEDIA)) is MEDIA
