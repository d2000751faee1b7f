"""An answer as a sequence of events, for streams and for complete answers.

Block contents arrive by deltas only, except where a block has no text (media, foreign blocks): then
`Open` has all of it. Which events may follow one another, `answer_state.py` says and checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from engine.translations.neutral.content import Block, Citation, Signature
from engine.translations.neutral.json_members import WrongType
from engine.values.usage import Usage

Stop = Literal["end", "length", "tool_calls", "stop_sequence", "filter", "pause"]


_FOREIGN_WORDS: dict[Stop, tuple[str, ...]] = {
    "length": (
        *("length", "max_tokens", "max_output_tokens", "model_length", "max_length"),
        *("max_new_tokens", "context_length_exceeded", "model_context_window_exceeded"),
    ),
    "filter": (
        *("content_filter", "content_filtered", "safety", "sensitive", "recitation", "blocklist"),
        *("prohibited_content", "image_safety", "spii", "guardrail_intervened"),
    ),
    "tool_calls": ("tool_calls", "tool_call", "tool_use", "tooluse", "function_call"),
}
_FOREIGN_STOPS = {word: stop for stop, words in _FOREIGN_WORDS.items() for word in words}


def foreign_stop(reason: str) -> Stop | None:
    """What another vendor's word means, as those who imitate one write it; None if unknown."""
    return _FOREIGN_STOPS.get(reason.lower().replace("-", "_"))


UsageSource = Callable[[], Usage | None]
"""The usage that the upstream has reported so far, None for none, as the reader of the target's
dialect has read it: for the ledger, the limits and the caller alike."""


def no_usage() -> Usage | None:
    """A UsageSource for answers whose usage does not matter."""
    return None


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
    """The first event. `usage` is what the vendor knows of the input at that moment; it is set with
    the law, by the UsageSource of the answer, and read by no language."""

    id: str = ""
    model: str = ""
    created: int = 0
    usage: Usage | None = None


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
    """A source that the open Text cites. A `late` one belongs to a Text that is complete: some
    vendors give the sources at the end. Its span counts from the beginning of all text."""

    citation: Citation
    candidate: int = 0
    late: bool = False


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


Event = Start | Open | Delta | Sign | Cite | Tokens | Close | End


def whole_block(block: Block, text: str = "", marks: Iterable[Event] = ()) -> list[Event]:
    """The events of a complete block of the first candidate."""
    return [Open(block), *([Delta(text)] if text else []), *marks, Close()]


_MAX_CANDIDATES = 128
_MAX_MESSAGE = 4_000
_MAX_WORD = 300


class BrokenAnswer(Exception):
    """The upstream's answer is not one of its language, or ended before it was complete. The
    message begins with "the upstream" and can be shown to callers; it has at most 300
    characters."""

    def __init__(self, message: str) -> None:
        super().__init__(message[:_MAX_WORD])


def check_candidate(index: int, place: str) -> None:
    """Raise WrongType for a candidate that no request can ask for, at `place`."""
    if not 0 <= index < _MAX_CANDIDATES:
        raise WrongType(place, f"a number from 0 to {_MAX_CANDIDATES - 1}")


def uncarried(kind: str) -> BrokenAnswer:
    """The refusal of content that the caller's language has no form for."""
    return BrokenAnswer(
        f"the upstream's answer has content of the kind '{kind:.60}', which this "
        "format cannot carry"
    )


class UpstreamError(Exception):
    """The upstream reports an error. `status` is the HTTP status that the error has without a
    stream, `code` the vendor's word for it, `retry_after` the seconds that it asks to wait. The
    message has at most 4,000 characters, the code 300."""

    def __init__(
        self, status: int, message: str, code: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message[:_MAX_MESSAGE])
        self.status, self.message = status, message[:_MAX_MESSAGE]
        self.code = code[:_MAX_WORD]
        self.retry_after = retry_after


def interrupted(events: Iterable[Event], error: Exception) -> Iterator[Event]:
    """The events; after them `error` is raised."""
    yield from events
    raise error


_Written = TypeVar("_Written")


class BlockWriter(Generic[_Written]):
    """Writes what the events of blocks say beside their deltas, each kind by its method."""

    _open: Callable[[Block], _Written]
    _sign: Callable[[Signature], _Written]
    _cite: Callable[[Citation, bool], _Written]
    _close: Callable[[], _Written]

    def block_event(self, event: Open | Sign | Cite | Close) -> _Written:
        match event:
            case Open():
                return self._open(event.block)
            case Close():
                return self._close()
            case Sign():
                return self._sign(event.signature)
            case Cite():
                return self._cite(event.citation, event.late)


class FirstCandidateWriter(BlockWriter[bytes]):
    """Writes a stream of one candidate, the first: callers cannot ask for more."""

    _start: Callable[[Start], bytes]
    _delta: Callable[[str], bytes]
    _end: Callable[[Finish, Usage | None], bytes]

    def write(self, event: Event) -> bytes:
        if isinstance(event, Delta):  # nearly every event
            return self._delta(event.text) if event.text and not event.candidate else b""
        if isinstance(event, Start):
            return self._start(event)
        if isinstance(event, End):
            return self._end(event.finishes[min(event.finishes)], event.usage)
        if event.candidate:
            return b""
        return self._tokens(event) if isinstance(event, Tokens) else self.block_event(event)

    def _tokens(self, event: Tokens) -> bytes:
        return b""
