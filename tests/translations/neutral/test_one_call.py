"""The wish for one call at a time, towards targets that cannot be told of it."""

from __future__ import annotations

from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open, Start
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.one_call import FirstCall, lose_one_call
from engine.translations.neutral.request import ChatRequest, Tool, ToolChoice
from engine.values.wildcard import Patterns
from tests.support.each import each


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
