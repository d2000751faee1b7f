"""An answer as a sequence of events, for streams and for complete answers.

The law: one Start; then for each candidate blocks one after another, each `Open`, then deltas, then
`Close`, never two open at once; one End, which finishes every candidate, 0 among them. Block
contents arrive by deltas only, except where a block has no text (media, foreign blocks): then
`Open` has all of it. The arguments of a tool call are a JSON object; those of the last call of a
candidate that reached its limit of tokens may have been cut off. `Law` checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.translations.neutral.arguments import LARGEST, are_object
from engine.translations.neutral.content import (
    Block,
    Citation,
    Extra,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)

Stop = Literal["end", "length", "tool_calls", "stop_sequence", "filter", "pause"]


class Usage(Struct, kw_only=True):
    """Tokens. `input` includes `cached` (read from the prompt cache) and `cache_write`, of which
    `cache_write_1h` are kept for an hour; `output` includes `reasoning`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0


def without_cache_twice(usage: Usage | None) -> Usage | None:
    """The usage where the tokens of the prompt cache were added to an input that included them."""
    if usage is None:
        return None
    cache = usage.cached + usage.cache_write
    return replace(usage, input=max(usage.input - cache, cache))


class TokenLogprob(Struct):
    """The log probability of one token, with the most likely tokens at its place."""

    token: str
    logprob: float
    top: list[tuple[str, float]] = []


class Finish(Struct, kw_only=True):
    """Why a candidate ended. `native` is the vendor's word, `sequence` the stop sequence that was
    met, `explanation` why an answer was filtered."""

    stop: Stop
    native: str = ""
    sequence: str = ""
    explanation: str = ""


class Start(Struct, kw_only=True):
    """The first event. `usage` is what the vendor knows of the input at that moment."""

    id: str = ""
    model: str = ""
    created: int = 0
    usage: Usage | None = None
    extra: Extra = {}


class Open(Struct):
    """A block of a candidate begins."""

    block: Block
    candidate: int = 0


class Delta(Struct):
    """More of the open block's text, or of the JSON text of its arguments."""

    text: str
    candidate: int = 0


class Sign(Struct):
    """The signature of the open Reasoning; a later one replaces it."""

    signature: Signature
    candidate: int = 0


class Cite(Struct):
    """A source that the open Text cites."""

    citation: Citation
    candidate: int = 0


class Tokens(Struct):
    """The log probabilities of the last tokens."""

    logprobs: list[TokenLogprob]
    candidate: int = 0


class Close(Struct):
    """The open block of a candidate is complete."""

    candidate: int = 0


class End(Struct, kw_only=True):
    """The last event: why each candidate ended, and the usage of the whole answer."""

    finishes: dict[int, Finish]
    usage: Usage | None = None
    extra: Extra = {}


Event = Start | Open | Delta | Sign | Cite | Tokens | Close | End


_LONGEST_MESSAGE = 4_000
_LONGEST_WORD = 300


class BrokenAnswer(Exception):
    """The upstream's answer is not one of its language, or ended before it was complete. The
    message begins with "the upstream" and can be shown to callers; it has at most 300
    characters."""

    def __init__(self, message: str) -> None:
        super().__init__(message[:_LONGEST_WORD])


class UpstreamError(Exception):
    """The upstream reports an error. `status` is the HTTP status that the error has without a
    stream, `code` the vendor's word for it, `retry_after` the seconds that it asks to wait. The
    message has at most 4,000 characters, the code 300."""

    def __init__(
        self, status: int, message: str, code: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message[:_LONGEST_MESSAGE])
        self.status, self.message = status, message[:_LONGEST_MESSAGE]
        self.code = code[:_LONGEST_WORD]
        self.retry_after = retry_after


def interrupted(events: Iterable[Event], error: Exception) -> Iterator[Event]:
    """The events; after them `error` is raised."""
    yield from events
    raise error


MOST_BLOCKS = 10_000
"""The largest number of blocks, and of citations, in one answer: each needs memory."""


Checks = dict[type[Event], Callable[[Any, Any], None]]


class Law:
    """Checks a sequence of events by the law, and the number of blocks and the length of all
    arguments by bounds. Raises BrokenAnswer."""

    ended = False
    _before: ClassVar[Checks]
    _between: ClassVar[Checks]
    """The handlers of events before the Start, and between it and the End; Delta is handled
    apart."""

    _blocks = _citations = _arguments_length = 0

    def __init__(self) -> None:
        self._checks = self._before
        self._candidates = {0}
        self._open: dict[int, Block] = {}
        self._arguments: dict[int, list[str]] = {}
        """The deltas of the open call of each candidate."""
        self._cut_calls: dict[int, str] = {}
        """The name of the last call of a candidate, if its arguments are no object."""

    def checked(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, each after its check."""
        for event in events:
            self.check(event)
            yield event

    def check(self, event: Event) -> None:
        """Check the next event. Raises BrokenAnswer."""
        if isinstance(event, Delta):  # nearly every event
            if not isinstance(self._open.get(event.candidate), _PLAIN):
                self._check_inside(event)
        elif (check := self._checks.get(type(event))) is None:
            raise _disorder(event)
        else:
            check(self, event)

    def _check_start(self, event: Start) -> None:
        self._checks = self._between

    def _check_open(self, event: Open) -> None:
        if event.candidate in self._open:
            raise _disorder(event)
        if event.candidate in self._cut_calls:
            raise _wrong_arguments(self._cut_calls[event.candidate])
        self._open[event.candidate] = event.block
        self._candidates.add(event.candidate)
        self._blocks += 1
        if self._blocks > MOST_BLOCKS:
            raise BrokenAnswer(f"the upstream's answer has over {MOST_BLOCKS} blocks")

    def _check_inside(self, event: Delta | Sign | Cite) -> None:
        block = self._open.get(event.candidate)
        if block is None:
            raise _disorder(event)
        if isinstance(block, ToolCall) and isinstance(event, Delta):
            self._add_arguments(event)
        elif isinstance(event, Cite):
            self._citations += 1
            if self._citations > MOST_BLOCKS:
                raise BrokenAnswer(f"the upstream's answer has over {MOST_BLOCKS} citations")
        if not isinstance(block, _INSIDE[type(event)]) and not _is_empty(event):
            kind, name = type(event).__name__, type(block).__name__
            raise BrokenAnswer(f"the upstream's answer has a {kind} in a {name}")

    def _check_tokens(self, event: Tokens) -> None:
        """Do nothing: Tokens are legal anywhere between the Start and the End."""

    def _check_close(self, event: Close) -> None:
        block = self._open.pop(event.candidate, None)
        if block is None:
            raise _disorder(event)
        if isinstance(block, ToolCall):
            arguments = "".join(self._arguments.pop(event.candidate, ()))
            if not are_object(arguments):
                self._cut_calls[event.candidate] = block.name

    def _check_end(self, event: End) -> None:
        if self._open or not self._candidates <= event.finishes.keys():
            raise _disorder(event)
        for candidate, name in self._cut_calls.items():
            if event.finishes[candidate].stop != "length":
                raise _wrong_arguments(name)
        self.ended, self._checks = True, {}

    def _add_arguments(self, event: Delta) -> None:
        self._arguments_length += len(event.text)
        if self._arguments_length > LARGEST:
            raise BrokenAnswer(f"the upstream's tool calls have over {LARGEST} characters")
        self._arguments.setdefault(event.candidate, []).append(event.text)


Law._before = {Start: Law._check_start}
Law._between = {
    Open: Law._check_open,
    Sign: Law._check_inside,
    Cite: Law._check_inside,
    Tokens: Law._check_tokens,
    Close: Law._check_close,
    End: Law._check_end,
}

_PLAIN = (Text, Refusal, Reasoning)
_INSIDE: dict[type[Event], tuple[type[Block], ...]] = {
    Delta: (*_PLAIN, ToolCall),
    Sign: (Reasoning,),
    Cite: (Text,),
}
"""The blocks that an event may belong to."""


def _is_empty(event: Event) -> bool:
    return isinstance(event, Delta) and not event.text


def _wrong_arguments(name: str) -> BrokenAnswer:
    return BrokenAnswer(f"the upstream's answer has arguments of {name} that are no JSON object")


def _disorder(event: Event) -> BrokenAnswer:
    return BrokenAnswer(f"the upstream's answer has a {type(event).__name__} out of order")
