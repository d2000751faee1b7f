"""The sources of an answer (`groundingMetadata`, `citationMetadata`) <-> citations, in a stream and
in one piece alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.translations.generate_content.text_offsets import TextOffsets
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Citation
from engine.translations.neutral.events import BrokenAnswer, Cite
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


Json = dict[str, Any]


class GroundingWriter:
    """Collects the sources of one candidate. `offsets` are those of all its text, which is added
    to them as it is written."""

    def __init__(self) -> None:
        self.offsets = TextOffsets()
        self._start = 0
        self._open: list[Citation] = []
        self._late: list[Citation] = []
        self._chunks: dict[tuple[str, str], int] = {}
        self._supports: list[Json] = []
        self._size = 0

    def cite(self, citation: Citation, *, late: bool = False) -> None:
        """What the open block cites, or a block before it. Raises BrokenAnswer for too much."""
        self._size += len(citation.url) + len(citation.title) + 1
        if self._size > LARGEST:
            raise BrokenAnswer(f"the upstream's citations have over {LARGEST} characters")
        if citation.url:
            (self._late if late else self._open).append(citation)

    def close(self) -> None:
        """The open block ends; a citation without a place is one of all of it."""
        for citation in self._open:
            self._support(citation, self._start)
        self._start, self._open = self.offsets.length, []

    def _support(self, citation: Citation, begin: int) -> None:
        """Add a citation of the text from `begin` on."""
        key = citation.url, citation.title
        index = self._chunks.setdefault(key, len(self._chunks))
        start, end = citation.span(self.offsets.length - begin)
        segment = _segment(self.offsets.bytes(begin + start), self.offsets.bytes(begin + end))
        self._supports.append({"segment": segment, "groundingChunkIndices": [index]})

    def members(self) -> Json:
        """The member of the candidate, none without sources."""
        for citation in self._late:
            self._support(citation, 0)
        self._late = []
        if not self._supports:
            return {}
        chunks = [{"web": {"uri": url, "title": title}} for url, title in self._chunks]
        return {
            "groundingMetadata": {"groundingChunks": chunks, "groundingSupports": self._supports}
        }


def _segment(start: int | None, end: int | None) -> Json:
    """Bytes of the text; the vendor leaves out a start of 0."""
    if start is None or end is None:
        return {}
    return {"startIndex": start, "endIndex": end} if start else {"endIndex": end}
