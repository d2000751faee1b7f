"""The sources that the text of a choice cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw

from engine.translations.chat_completions.answer_shapes import ANNOTATIONS
from engine.translations.neutral.content import Citation
from engine.translations.neutral.events import Cite
from engine.translations.openai_answer_fields import read_citation


class TextCitations:
    """Places citations in the blocks of text. The vendor counts from the beginning of all text; a
    span that begins in an earlier block is told without its place."""

    length = 0
    """Of all text up to now."""

    _start = 0
    """Of the open block."""

    def __init__(self, candidate: int) -> None:
        self._candidate = candidate
        self._early: list[Citation] = []
        """Those that came before the text which they belong to."""

    def read(self, annotations: Raw, *, is_open: bool, is_complete: bool) -> Iterator[Cite]:
        """The sources in an answer's member, of a text that is open, complete, or still to come."""
        shapes = ANNOTATIONS.read(annotations, "annotations") or ()
        citations = [read_citation(o.url_citation) for o in shapes if o.url_citation is not None]
        if is_open:
            yield from self._cite(citations)
        elif is_complete:
            yield from (Cite(each, self._candidate, late=True) for each in citations)
        else:
            self._early += citations

    def begin(self) -> Iterable[Cite]:
        """A block of text has begun: the sources that came before it."""
        self._start = self.length
        citations, self._early = self._early, []
        return self._cite(citations)

    def _cite(self, citations: Iterable[Citation]) -> Iterator[Cite]:
        for citation in citations:
            start, end = citation.start, citation.end
            inside = start is not None and end is not None and start >= self._start
            citation.start = start - self._start if inside and start is not None else None
            citation.end = end - self._start if inside and end is not None else None
            yield Cite(citation, self._candidate)
