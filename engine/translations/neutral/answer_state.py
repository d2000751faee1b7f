"""The law of answers (`events.py`): which events may follow one another, and what must agree.

Theory of operation. Readers of a language make events of what the upstream sends, writers of
another make the caller's bytes of them. The law stands between the two, so that a writer needs no
case for an answer that is out of order. An answer and each of its candidates have a state:

    answer       before   only Start
                 between  all others, until End
                 ended    nothing
    candidate    idle     Open; also Cite, if it is `late`
                 open     Delta, Sign and Cite, where the kind of block has them (`_INSIDE`); Close

`_checks` is the table of the answer's state: an event that is not in it is out of order. Tokens are
legal anywhere between. What must agree in the End:

- every candidate that was named has a Finish, and no block is open
- arguments of a call are a JSON object, unless the caller takes any text; those of the last call of
  a candidate may be cut, if it ended for its `length`
- calls of a candidate have ids of their own: a second call of one id gets a new one, since SDKs
  refuse it and the results could not be told apart
- a candidate with calls ended for `tool_calls`, whatever its server says; one that ended for calls
  and has none has lost them, and is refused

Invariants: an event is changed only by what is its own (a foreign block by its substitute, the id
of a call, usage, a Finish); nothing is held back or put in another order; blocks, citations and
arguments are bounded. Any breach is a BrokenAnswer: before the first content it is a failure that
another target may mend, behind it the stream ends with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from engine.translations.neutral import events
from engine.translations.neutral.calls import are_object, call_id, check_buffer
from engine.translations.neutral.content import Block, Foreign, Reasoning, Refusal, Text, ToolCall
from engine.values.event_json import whole_object

MAX_BLOCKS = 10_000
"""The largest number of blocks, and of citations, in one answer: each needs memory."""


Checks = dict[type[events.Event], Callable[[Any, Any], None]]


class AnswerState(Struct, kw_only=True):
    """Checks a sequence of events by the law, and the number of blocks and the length of all
    arguments by bounds. Raises BrokenAnswer.

    A block that only the target's language has becomes its substitute, or is refused if its content
    would be lost. In the End, why each candidate ended agrees with its calls. `usage` is what Start
    and End tell; None leaves them as they are. `any_arguments`: those of calls may be any text.
    """

    usage: events.UsageSource | None = None
    any_arguments: bool = False
    started: bool = False
    ended: bool = False
    _start: events.Start | None = None
    _end: events.End | None = None
    _checks: Checks = {}
    _blocks: int = 0
    _citations: int = 0
    _arguments_length: int = 0
    _candidates: set[int] = set()
    _callers: set[int] = set()
    _speakers: set[int] = set()  # those that have a text
    _ids: set[tuple[int, str]] = set()
    _open: dict[int, Block] = {}
    _arguments: dict[int, list[str]] = {}
    _cut_calls: dict[int, str] = {}
    """The name of the last call of a candidate, if its arguments are no object."""

    def __post_init__(self) -> None:
        self._checks = self._before

    def checked(self, sequence: Iterable[events.Event]) -> Iterator[events.Event]:
        for event in sequence:
            self.check(event)
            yield event

    def check(self, event: events.Event) -> None:
        if isinstance(event, events.Delta):  # nearly every event
            if not isinstance(self._open.get(event.candidate), PLAIN):
                self._check_inside(event)
        elif (check := self._checks.get(type(event))) is None:
            raise disorder(event)
        else:
            check(self, event)

    def _check_start(self, event: events.Start) -> None:
        if self.usage is not None:
            event.usage = self.usage()
        self._start, self.started, self._checks = event, True, self._between

    def _check_open(self, event: events.Open) -> None:
        candidate, block = event.candidate, event.block
        if candidate in self._open:
            raise disorder(event)
        if candidate in self._cut_calls:
            raise _wrong_arguments(self._cut_calls[candidate])
        if isinstance(block, Foreign) and not block.omissible:
            if block.substitute is None:
                raise events.uncarried(block.kind)
            block = event.block = block.substitute
        if isinstance(block, ToolCall):
            self._callers.add(candidate)
            if (candidate, block.id) in self._ids:
                own_id = call_id(f"{block.id}:{self._blocks}")
                block = event.block = replace(block, id=own_id)
            self._ids.add((candidate, block.id))
        elif isinstance(block, Text | Refusal):
            self._speakers.add(candidate)
        self._open[candidate] = block
        self._candidates.add(candidate)
        self._blocks += 1
        if self._blocks > MAX_BLOCKS:
            raise events.BrokenAnswer(f"the upstream's answer has over {MAX_BLOCKS} blocks")

    def _check_inside(self, event: events.Delta | events.Sign | events.Cite) -> None:
        if isinstance(event, events.Cite):
            self._citations += 1
            if self._citations > MAX_BLOCKS:
                raise events.BrokenAnswer(f"the upstream's answer has over {MAX_BLOCKS} citations")
            if event.late:
                return
        if (block := self._open.get(event.candidate)) is None:
            raise disorder(event)
        if isinstance(block, ToolCall) and isinstance(event, events.Delta):
            self._arguments_length += len(event.text)
            check_buffer(self._arguments_length, "tool calls have")
            if not self.any_arguments:
                self._arguments.setdefault(event.candidate, []).append(event.text)
        if not isinstance(block, _INSIDE[type(event)]) and (
            not isinstance(event, events.Delta) or event.text
        ):
            kind, name = type(event).__name__, type(block).__name__
            raise events.BrokenAnswer(f"the upstream's answer has a {kind} in a {name}")

    def _check_close(self, event: events.Close) -> None:
        if (block := self._open.pop(event.candidate, None)) is None:
            raise disorder(event)
        if isinstance(block, ToolCall):
            arguments = "".join(self._arguments.pop(event.candidate, ()))
            if not are_object(whole_object(arguments)):
                self._cut_calls[event.candidate] = block.name

    def _check_end(self, event: events.End) -> None:
        ends = event.finishes.keys()
        if self._open or 0 not in ends or not self._candidates <= ends:
            raise disorder(event)
        for candidate, name in self._cut_calls.items():
            if event.finishes[candidate].stop != "length":
                raise _wrong_arguments(name)
        event.finishes = {
            at: agreed(finish, calls=at in self._callers, speaks=at in self._speakers)
            for at, finish in event.finishes.items()
        }
        if self.usage is not None:
            event.usage = self.usage()
        self._end, self.ended, self._checks = event, True, {}

    _before: ClassVar[Checks] = {events.Start: _check_start}
    _between: ClassVar[Checks] = {
        events.Open: _check_open,
        events.Sign: _check_inside,
        events.Cite: _check_inside,
        events.Tokens: lambda state, event: None,
        events.Close: _check_close,
        events.End: _check_end,
    }
    """The handlers of events before the Start, and between it and the End; Delta is handled
    apart."""


PLAIN = (Text, Refusal, Reasoning)
_INSIDE: dict[type[events.Event], tuple[type[Block], ...]] = {
    events.Delta: (*PLAIN, ToolCall),
    events.Sign: (Reasoning,),
    events.Cite: (Text,),
}


_CALLING: tuple[events.Stop, ...] = ("end", "stop_sequence", "pause")
"""Why a candidate with calls cannot have ended: it waits for their results. One that was cut
(length, filter) may have calls before the cut."""


def agreed(finish: events.Finish, *, calls: bool, speaks: bool) -> events.Finish:
    """Why a candidate ended, in agreement with whether it calls a tool: many servers say `stop` of
    an answer with calls, and some that a text ends for calls, where agents would wait for ever.
    One that has neither lost its calls on its way. Raises BrokenAnswer."""
    if calls and finish.stop in _CALLING:
        return replace(finish, stop="tool_calls", sequence="")
    if calls or finish.stop != "tool_calls":
        return finish
    if not speaks:
        raise events.BrokenAnswer("the upstream's answer ends for tool calls, but it has none")
    return replace(finish, stop="end")


def _wrong_arguments(name: str) -> events.BrokenAnswer:
    return events.BrokenAnswer(
        f"the upstream's answer calls {name} with arguments that are not a JSON object"
    )


def disorder(event: events.Event) -> events.BrokenAnswer:
    kind = type(event).__name__.lower()
    return events.BrokenAnswer(f"the upstream's answer has its parts out of order: {kind}")
