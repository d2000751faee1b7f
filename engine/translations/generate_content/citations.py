"""The sources of an answer (`groundingMetadata`, `citationMetadata`) <-> citations, in a stream and
in one piece alike."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator

from msgspec.structs import replace

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import check_buffer
from engine.translations.neutral.json_members import Members
from engine.values.trees import Json

MAX_RUNS = 250_000
"""Runs of characters with the same number of bytes whose places are kept, in 17 bytes each."""

_MAX_PENDING = 4_000
"""Bytes of text that are kept before its runs are told apart: most texts have no sources."""

_RUN = re.compile(
    "([\x00-\x7f]+)|([\x80-\u07ff]+)|([\u0800-\ud7ff\ue000-\uffff]+)|([\U00010000-\U0010ffff]+)"
)
"""Characters with the same number of bytes, which is the number of the group."""


class TextOffsets:
    """The offsets in a text that arrives in pieces. Of a long text itself nothing is kept but its
    end: only where characters begin that have another number of bytes than those before them."""

    _characters = _bytes = 0
    """The characters and bytes before those that are pending."""

    _width = 1
    _known: int | None = None
    """The characters up to the first run whose place is not kept."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._starts = array("Q", (0,))
        self._byte_starts = array("Q", (0,))
        self._widths = array("B", (1,))

    @property
    def length(self) -> int:
        return self._characters + len(self._pending.decode())

    def add(self, text: str) -> None:
        self._pending += text.encode()
        if len(self._pending) > _MAX_PENDING:
            self._tell_runs()

    def _tell_runs(self) -> None:
        if not self._pending:
            return
        text, self._pending = self._pending.decode(), bytearray()
        if text.isascii():
            self._add_run(len(text), 1)
            return
        at = 0
        for match in _RUN.finditer(text):
            end = match.end()
            self._add_run(end - at, match.lastindex or 1)
            at = end

    def _add_run(self, count: int, width: int) -> None:
        if width != self._width:
            self._width = width
            if len(self._widths) < MAX_RUNS:
                self._starts.append(self._characters)
                self._byte_starts.append(self._bytes)
                self._widths.append(width)
            elif self._known is None:
                self._known = self._characters
        self._characters += count
        self._bytes += count * width

    def characters(self, offset: int) -> int | None:
        """The offset in characters of one in bytes; None where that is not known."""
        self._tell_runs()
        if not 0 <= offset <= self._bytes:
            return None
        run = bisect_right(self._byte_starts, offset) - 1
        within = (offset - self._byte_starts[run]) // self._widths[run]
        return self._if_known(self._starts[run] + within)

    def bytes(self, offset: int) -> int | None:
        """The offset in bytes of one in characters; None where that is not known."""
        self._tell_runs()
        if not 0 <= offset <= self.length or self._if_known(offset) is None:
            return None
        run = bisect_right(self._starts, offset) - 1
        return self._byte_starts[run] + (offset - self._starts[run]) * self._widths[run]

    def _if_known(self, characters: int) -> int | None:
        return None if self._known is not None and characters > self._known else characters


class CitationReader:
    """Reads the sources of one candidate. `offsets` are those of its text, of all blocks: the
    vendor counts in all of it, and gives the sources at its end."""

    def __init__(self, candidate: int) -> None:
        self.offsets = TextOffsets()
        self._candidate = candidate
        self._start = 0

    def begin_block(self) -> None:
        self._start = self.offsets.length

    def read(self, candidate: Members, *, late: bool = False) -> Iterator[events.Cite]:
        """What the open text cites; `late`: what the text that is complete cites."""
        if late:
            self._start = 0
        if (grounding := candidate.members("groundingMetadata")) is not None:
            chunks = [_chunk(each) for each in grounding.objects("groundingChunks")]
            for support in grounding.objects("groundingSupports"):
                yield from self._support(support, chunks, late=late)
        if (metadata := candidate.members("citationMetadata")) is not None:
            name = next((n for n in ("citationSources", "citations") if n in metadata), "citations")
            for source in metadata.objects(name):
                citation = _source(source)
                citation.start, citation.end = self._span(source)
                yield events.Cite(citation, self._candidate, late)

    def _support(
        self, support: Members, chunks: list[neutral.Citation], *, late: bool
    ) -> Iterator[events.Cite]:
        segment = support.members("segment") or Members(b"{}")
        start, end = self._span(segment)
        for index in support.integers("groundingChunkIndices") or ():
            if 0 <= index < len(chunks) and chunks[index].url:
                citation = replace(chunks[index], start=start, end=end)
                yield events.Cite(citation, self._candidate, late)

    def _span(self, segment: Members) -> tuple[int | None, int | None]:
        """The characters of the open block; None twice where they are not known."""
        if (end := segment.integer("endIndex")) is None:
            return None, None
        start = self.offsets.characters(segment.integer("startIndex") or 0)
        stop = self.offsets.characters(end)
        if start is None or stop is None or not self._start <= start <= stop:
            return None, None
        return start - self._start, stop - self._start


def _chunk(chunk: Members) -> neutral.Citation:
    for name in ("web", "retrievedContext", "maps"):
        if (source := chunk.members(name)) is not None:
            return _source(source)
    return neutral.Citation()


def _source(source: Members) -> neutral.Citation:
    return neutral.Citation(
        url=source.text("uri") or "",
        title=source.text("title") or "",
        cited=source.text("text") or "",
    )


class GroundingWriter:
    """Collects the sources of one candidate. `offsets` are those of all its text."""

    def __init__(self) -> None:
        self.offsets = TextOffsets()
        self._start = 0
        self._open: list[neutral.Citation] = []
        self._late: list[neutral.Citation] = []
        self._chunks: dict[tuple[str, str], int] = {}
        self._supports: list[Json] = []
        self._size = 0

    def cite(self, citation: neutral.Citation, *, late: bool = False) -> None:
        """What the open block cites, or a block before it. Raises BrokenAnswer for too much."""
        self._size += len(citation.url) + len(citation.title) + 1
        check_buffer(self._size, "citations have")
        if citation.url:
            (self._late if late else self._open).append(citation)

    def close(self) -> None:
        """The open block ends; a citation without a place is one of all of it."""
        for citation in self._open:
            self._support(citation, self._start)
        self._start, self._open = self.offsets.length, []

    def _support(self, citation: neutral.Citation, begin: int) -> None:
        """Add a citation of the text from `begin` on."""
        key = citation.url, citation.title
        index = self._chunks.setdefault(key, len(self._chunks))
        start, end = citation.span(self.offsets.length - begin)
        first, last = self.offsets.bytes(begin + start), self.offsets.bytes(begin + end)
        segment: Json = {}
        if first is not None and last is not None:  # the vendor leaves out a start of 0
            segment = {**({"startIndex": first} if first else {}), "endIndex": last}
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
