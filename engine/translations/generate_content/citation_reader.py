"""The sources of an answer (`groundingMetadata`, `citationMetadata`) -> citations."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.generate_content.text_offsets import TextOffsets
from engine.translations.neutral.content import Citation
from engine.translations.neutral.events import Cite
from engine.translations.neutral.members import Members

_CHUNKS = ("web", "retrievedContext", "maps")


class CitationReader:
    """Reads the sources of one candidate. `offsets` are those of its text, of all blocks: the
    vendor counts in all of it, and gives the sources at its end."""

    def __init__(self, candidate: int) -> None:
        self.offsets = TextOffsets()
        self._candidate = candidate
        self._late = False
        self._start = 0

    def begin_block(self) -> None:
        """A block begins where the text ends now."""
        self._start = self.offsets.length

    def read(self, candidate: Members, *, late: bool = False) -> Iterator[Cite]:
        """What the open text cites; `late`: what the text that is complete cites."""
        self._late = late
        if late:
            self._start = 0
        grounding = candidate.members("groundingMetadata")
        if grounding is not None:
            chunks = [_chunk(each) for each in grounding.objects("groundingChunks")]
            for support in grounding.objects("groundingSupports"):
                yield from self._support(support, chunks)
        metadata = candidate.members("citationMetadata")
        if metadata is not None:
            name = next((n for n in ("citationSources", "citations") if n in metadata), "citations")
            for source in metadata.objects(name):
                yield self._cite(_source(source), source)

    def _support(self, support: Members, chunks: list[Citation]) -> Iterator[Cite]:
        segment = support.members("segment") or Members(b"{}")
        start, end = self._span(segment)
        name = "groundingChunkIndices"
        for index in support.integers(name) or ():
            if 0 <= index < len(chunks) and chunks[index].url:
                chunk = chunks[index]
                citation = Citation(chunk.url, chunk.title, chunk.cited, start, end)
                yield Cite(citation, self._candidate, self._late)

    def _cite(self, citation: Citation, span: Members) -> Cite:
        citation.start, citation.end = self._span(span)
        return Cite(citation, self._candidate, self._late)

    def _span(self, segment: Members) -> tuple[int | None, int | None]:
        """The characters of the open block; None twice where they are not known."""
        end = segment.integer("endIndex")
        if end is None:
            return None, None
        start = self.offsets.characters(segment.integer("startIndex") or 0)
        stop = self.offsets.characters(end)
        if start is None or stop is None or not self._start <= start <= stop:
            return None, None
        return start - self._start, stop - self._start


def _chunk(chunk: Members) -> Citation:
    for name in _CHUNKS:
        if (source := chunk.members(name)) is not None:
            return _source(source)
    return Citation()


def _source(source: Members) -> Citation:
    return Citation(
        url=source.text("uri") or "",
        title=source.text("title") or "",
        cited=source.text("text") or "",
    )
