"""A complete answer, and its assembly from events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct

from engine.translations.neutral import events
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.calls import are_object
from engine.translations.neutral.content import Block, Citation, Reasoning, Refusal, Text, ToolCall
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


class Assembly(AnswerState):
    """Assembles an answer from its events, which are checked by the law."""

    _start = events.Start()
    _end: events.End | None = None

    def __init__(
        self, usage: events.UsageSource | None = None, *, any_arguments: bool = False
    ) -> None:
        super().__init__(usage, any_arguments=any_arguments)
        self._contents: dict[int, list[Block]] = {}
        self._logprobs: dict[int, list[events.TokenLogprob]] = {}
        self._texts: dict[int, list[str]] = {}
        self._citable: dict[int, CitableTexts] = {}  # of candidates with late citations

    def add(self, sequence: Iterable[events.Event]) -> None:
        for event in sequence:
            self.check(event)
            self._take(event)

    def answer(self) -> Answer:
        """The answer. Raises BrokenAnswer if the last event is missing."""
        start, end = self._start, self._end
        if end is None:
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

    def _take(self, event: events.Event) -> None:
        match event:  # by how many there are of a kind
            case events.Delta():
                self._texts[event.candidate].append(event.text)
            case events.Open():
                self._open_block(event.block, event.candidate)
            case events.Close():
                self._close_block(event.candidate)
            case events.Start():
                self._start = event
            case events.End():
                self._end = event
            case events.Sign():
                block = self._contents[event.candidate][-1]
                assert isinstance(block, Reasoning)
                block.signature = event.signature
            case events.Cite():
                self._cite(event)
            case events.Tokens():
                self._logprobs.setdefault(event.candidate, []).extend(event.logprobs)

    def _open_block(self, block: Block, candidate: int) -> None:
        self._contents.setdefault(candidate, []).append(block)
        if candidate in self._citable and isinstance(block, Text):
            self._citable[candidate].add(block)
        self._texts[candidate] = []

    def _close_block(self, candidate: int) -> None:
        block, text = self._contents[candidate][-1], "".join(self._texts[candidate])
        if isinstance(block, Text | Refusal | Reasoning):
            block.text += text
        elif isinstance(block, ToolCall):
            block.arguments += text

    def _cite(self, event: events.Cite) -> None:
        if event.late:
            self._citable_texts(event.candidate).cite(event.citation)
            return
        block = self._contents[event.candidate][-1]
        assert isinstance(block, Text)
        block.citations.append(event.citation)

    def _citable_texts(self, candidate: int) -> CitableTexts:
        """The texts of a candidate; those that come later are added as they begin."""
        citable = self._citable.get(candidate)
        if citable is None:
            citable = self._citable[candidate] = CitableTexts()
            for block in self._contents.get(candidate, ()):
                if isinstance(block, Text):
                    citable.add(block)
        return citable
