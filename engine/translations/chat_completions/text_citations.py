"""The sources that the text of a choice cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw

from engine.translations.chat_completions.answer_shapes import ANNOTATIONS
from engine.translations.neutral.content import Citation
from engine.translations.neutral.events import Cite
from engine.translations.openai_answer_fields import read_citation


def read_annotations(annotations: Raw) -> list[Citation]:
    """The sources in a member of an answer; none in one of another form."""
    if bytes(annotations)[:1] != b"[":
        return []
    shapes = ANNOTATIONS.read(annotations, "annotations") or ()
    pages = [each.url_citation for each in shapes if each is not None]
    return [read_citation(page) for page in pages if page is not None]


def citations_in(citations: Iterable[Citation], block_start: int, candidate: int) -> Iterator[Cite]:
    """What the open block of text cites, which begins at `block_start` of all text. The vendor
    counts from the beginning of all; a span that begins in an earlier block is told without its
    place."""
    for citation in citations:
        start, end = citation.start, citation.end
        inside = start is not None and end is not None and start >= block_start
        citation.start = start - block_start if inside and start is not None else None
        citation.end = end - block_start if inside and end is not None else None
        yield Cite(citation, candidate)
