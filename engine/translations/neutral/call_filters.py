"""Tool calls that the events of an answer are given without: that of the tool which stands for the
form of the answer, and those behind the only one that is wanted.

Some models enforce no schema of their answer, but one of a tool's arguments. The request declares
such a tool and requires its call; the arguments of the call become the text of the answer. Others
cannot be told to call one tool at a time. Without a function that may be called there is nothing to
hold back. Where the caller demands a call, the first one is what it wants. Only where the model
chooses freely is the wish a loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, OutputFormat, Tool

_NAME = "json_tool_call"


def answer_tool_name(names: set[str]) -> str:
    """A name for the tool that none of the caller's tools has."""
    name = _NAME
    while name in names:
        name += "_"
    return name


def answer_tool_description(output: OutputFormat) -> str:
    """The description of the tool for the model."""
    any_object = ", a JSON object with the members that were asked for"
    default = f"Gives the answer to the user{any_object if output.kind == 'json' else ''}."
    return output.description or default


class AnswerTool:
    """Turns the calls of the tool `name` in an answer's events into texts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._answered: set[int] = set()
        self._called: set[int] = set()
        self._empty: set[int] = set()
        """Candidates with an open call of the tool, up to now without arguments."""

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with calls of the tool replaced by texts."""
        for event in events:
            if isinstance(event, End):
                finishes = {at: self._finish(at, each) for at, each in event.finishes.items()}
                yield msgspec.structs.replace(event, finishes=finishes)
            elif isinstance(event, Open) and isinstance(event.block, ToolCall):
                yield self._open(event, event.block)
            else:
                if isinstance(event, Delta) and event.text:
                    self._empty.discard(event.candidate)
                elif isinstance(event, Close) and event.candidate in self._empty:
                    self._empty.discard(event.candidate)
                    yield Delta("{}", event.candidate)
                yield event

    def _open(self, event: Open, call: ToolCall) -> Open:
        candidate = event.candidate
        if call.name != self._name:
            self._called.add(candidate)
            return event
        self._answered.add(candidate)
        self._empty.add(candidate)
        return Open(Text(), candidate)

    def _finish(self, candidate: int, finish: Finish) -> Finish:
        """The finish of a candidate: `end` instead of `tool_calls` if it called only the tool."""
        answered = candidate in self._answered and candidate not in self._called
        if answered and finish.stop == "tool_calls":
            return msgspec.structs.replace(finish, stop="end", native="")
        return finish


def lose_one_call(request: ChatRequest, losses: Losses) -> bool:
    """Add a loss if the target may call more than the caller wants. Returns whether the first call
    of an answer is the wanted one instead."""
    if request.parallel_calls is not False:
        return False
    mode = "auto" if request.tool_choice is None else request.tool_choice.mode
    if mode == "none" or not any(isinstance(tool, Tool) for tool in request.tools):
        return False
    if mode == "any":
        return True
    reason = "the upstream cannot be held to one call at a time"
    losses.add(request.place_of("parallel_calls"), reason)
    return False


class FirstCall:
    """Leaves out the calls of each candidate behind its first one."""

    def __init__(self) -> None:
        self._called: set[int] = set()
        self._omitted: set[int] = set()
        """Candidates whose open block is left out."""

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events without those of later calls."""
        for event in events:
            if isinstance(event, Open) and isinstance(event.block, ToolCall):
                if event.candidate in self._called:
                    self._omitted.add(event.candidate)
                    continue
                self._called.add(event.candidate)
            elif isinstance(event, Delta | Close) and event.candidate in self._omitted:
                if isinstance(event, Close):
                    self._omitted.remove(event.candidate)
                continue
            yield event
