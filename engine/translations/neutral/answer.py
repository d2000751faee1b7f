"""A complete answer, and its assembly from events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct

from engine.translations.neutral import events
from engine.translations.neutral.answer_state import PLAIN, AnswerState, disorder
from engine.translations.neutral.calls import are_object
from engine.translations.neutral.content import Block, Citation, Reasoning, Text, ToolCall
from engine.values.event_json import whole_object
from engine.values.usage import Usage


class Candidate(Struct):
    """One of the answers to a request, most often the only one."""

    blocks: list[Block]
    finish: events.Finish
    logprobs: list[events.TokenLogprob] = []


class Answer(Struct, kw_only=True):
    id: str
    model: str
    created: int
    candidates: list[Candidate]
    usage: Usage | None


def complete_blocks(candidate: Candidate) -> list[Block]:
    """The blocks, without a last tool call whose arguments were cut off at the token limit."""
    blocks = candidate.blocks
    last = blocks[-1] if blocks else None
    if candidate.finish.stop != "length" or not isinstance(last, ToolCall):
        return blocks
    return blocks if are_object(last.arguments) else blocks[:-1]


def collect(sequence: Iterable[events.Event]) -> Answer:
    """The answer of all of its events. Raises BrokenAnswer for events against the law."""
    assembly = Assembly()
    assembly.add(sequence)
    return assembly.answer()


class CitableTexts:
    """The texts of an answer, each complete when the next one is added, to which late citations are
    given: their spans are counted from the beginning of the first text."""

    def __init__(self) -> None:
        self._texts: list[Text] = []
        self._starts: list[int] = []

    def add(self, text: Text) -> None:
        end = self._starts[-1] + len(self._texts[-1].text) if self._texts else 0
        self._texts.append(text)
        self._starts.append(end)

    def cite(self, citation: Citation) -> int | None:
        """Give a late citation to the text that its span begins in; to the last one without a span.
        Returns the position of the text, None without a text."""
        if not self._texts:
            return None
        at, start = len(self._texts) - 1, citation.start
        if start is not None and start >= 0:
            at = bisect_right(self._starts, start) - 1
        self._texts[at].citations.append(citation.moved(-self._starts[at]))
        return at


class Assembly(AnswerState, kw_only=True):
    """Assembles an answer from its events, which are checked by the law."""

    _contents: dict[int, list[Block]] = {}
    _logprobs: dict[int, list[events.TokenLogprob]] = {}
    _texts: dict[int, list[str]] = {}
    _citable: dict[int, CitableTexts] = {}  # of candidates with late citations

    def add(self, sequence: Iterable[events.Event]) -> None:
        for event in sequence:
            add = self._checks.get(type(event))
            if add is None:
                raise disorder(event)
            add(self, event)

    def answer(self) -> Answer:
        """The answer. Raises BrokenAnswer if the last event is missing."""
        start, end = self._start, self._end
        if start is None or end is None:
            raise events.BrokenAnswer("the upstream's answer ended before it was complete")
        return Answer(
            id=start.id,
            model=start.model,
            created=start.created,
            candidates=[
                Candidate(self._contents.get(index, []), finish, self._logprobs.get(index, []))
                for index, finish in sorted(end.finishes.items())
            ],
            usage=end.usage or start.usage,
        )

    def _add_open(self, event: events.Open) -> None:
        self._check_open(event)
        block, candidate = event.block, event.candidate
        self._contents.setdefault(candidate, []).append(block)
        self._texts[candidate] = []
        if self._citable and candidate in self._citable and isinstance(block, Text):
            self._citable[candidate].add(block)

    def _add_delta(self, event: events.Delta) -> None:
        if not isinstance(self._open.get(event.candidate), PLAIN):
            self._check_inside(event)
        self._texts[event.candidate].append(event.text)

    def _add_close(self, event: events.Close) -> None:
        self._check_close(event)
        candidate = event.candidate
        block, text = self._contents[candidate][-1], "".join(self._texts[candidate])
        if isinstance(block, PLAIN):
            block.text += text
        elif isinstance(block, ToolCall):
            block.arguments = whole_object(block.arguments + text)

    def _add_sign(self, event: events.Sign) -> None:
        self._check_inside(event)
        block = self._contents[event.candidate][-1]
        assert isinstance(block, Reasoning)
        block.signature = event.signature

    def _add_cite(self, event: events.Cite) -> None:
        self._check_inside(event)
        if event.late:
            self._citable_texts(event.candidate).cite(event.citation)
            return
        block = self._contents[event.candidate][-1]
        assert isinstance(block, Text)
        block.citations.append(event.citation)

    def _add_tokens(self, event: events.Tokens) -> None:
        self._logprobs.setdefault(event.candidate, []).extend(event.logprobs)

    def _citable_texts(self, candidate: int) -> CitableTexts:
        """The texts of a candidate; those that come later are added as they begin."""
        if (citable := self._citable.get(candidate)) is None:
            citable = self._citable[candidate] = CitableTexts()
            for block in self._contents.get(candidate, ()):
                if isinstance(block, Text):
                    citable.add(block)
        return citable

    _between = {
        **AnswerState._between,
        events.Open: _add_open,
        events.Delta: _add_delta,
        events.Sign: _add_sign,
        events.Cite: _add_cite,
        events.Tokens: _add_tokens,
        events.Close: _add_close,
    }
