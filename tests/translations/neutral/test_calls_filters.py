"""Answers that are given as the arguments of a tool."""

from __future__ import annotations

from engine.translations.neutral.answer import collect
from engine.translations.neutral.calls import (
    AnswerTool,
    FirstCall,
    lose_one_call,
)
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open, Start, Stop
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Tool, ToolChoice
from engine.values.wildcard import Patterns
from tests.support.each import each


def answer(stop: Stop, *names: str) -> tuple[list[object], str]:
    """The blocks and the reason of an answer that calls these tools."""
    events: list[Event] = [Start()]
    for name in names:
        events += [Open(ToolCall(id=name, name=name)), Delta('{"a":'), Delta("1}"), Close()]
    events.append(End(finishes={0: Finish(stop=stop, native="tool_use")}))
    tool = AnswerTool("json")
    candidate = collect(tool.events(events)).candidates[0]
    return [*candidate.blocks], candidate.finish.stop


def test_the_arguments_are_the_text_and_the_answer_ends() -> None:
    assert answer("tool_calls", "json") == ([Text(text='{"a":1}')], "end")


def test_no_arguments_are_an_empty_object() -> None:
    events: list[Event] = [Start(), Open(ToolCall(id="a", name="json")), Delta(""), Close()]
    events.append(End(finishes={0: Finish(stop="tool_calls")}))
    assert collect(AnswerTool("json").events(events)).candidates[0].blocks == [Text(text="{}")]


def test_another_call_is_one() -> None:
    call = ToolCall(id="f", name="f", arguments='{"a":1}')
    assert answer("tool_calls", "f") == ([call], "tool_calls")
    assert answer("tool_calls", "json", "f") == ([Text(text='{"a":1}'), call], "tool_calls")


def test_an_answer_that_was_cut_off_says_so() -> None:
    assert answer("length", "json") == ([Text(text='{"a":1}')], "length")


@each(
    ("choice", "tools", "parallel", "lost", "first"),
    [
        (None, 1, False, True, False),
        (ToolChoice("auto"), 1, False, True, False),
        (ToolChoice("none"), 1, False, False, False),
        (None, 0, False, False, False),
        (ToolChoice("any"), 1, False, False, True),
        (ToolChoice("any", ("f",)), 2, False, False, True),
        (ToolChoice("any"), 1, True, False, False),
        (None, 1, None, False, False),
    ],
)
def test_the_wish_is_lost_only_where_the_model_chooses(
    choice: ToolChoice | None, tools: int, parallel: bool | None, lost: bool, first: bool
) -> None:
    losses = Losses(Patterns(()))
    request = ChatRequest(
        language="messages",
        model="m",
        messages=[],
        tools=[Tool(name=f"f{number}") for number in range(tools)],
        tool_choice=choice,
        parallel_calls=parallel,
    )
    assert lose_one_call(request, losses) is first
    assert bool(losses.losses) is lost


def _call(name: str, candidate: int = 0) -> list[Event]:
    return [
        Open(ToolCall(id=name, name=name), candidate),
        Delta("{}", candidate),
        Close(candidate),
    ]


def test_the_first_call_of_each_candidate_remains_with_all_texts() -> None:
    text: list[Event] = [Open(Text()), Delta("b"), Close()]
    end = End(finishes={0: Finish(stop="tool_calls"), 1: Finish(stop="tool_calls")})
    events = [Start(), *_call("f"), *_call("g"), *text, *_call("h", 1), *_call("i", 1), end]
    kept = [Start(), *_call("f"), *text, *_call("h", 1), end]
    assert list(FirstCall().events(events)) == kept
