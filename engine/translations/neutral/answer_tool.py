"""Structured output by a tool call.

Some models enforce no schema of their answer, but one of a tool's arguments. The request declares
such a tool and requires its call; the arguments of the call become the text of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open
from engine.translations.neutral.request import OutputFormat

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
