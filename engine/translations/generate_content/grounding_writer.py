"""Citations -> `groundingMetadata`, in a stream and in one piece alike."""

from __future__ import annotations

from typing import Any

from engine.translations.generate_content.text_offsets import TextOffsets
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Citation
from engine.translations.neutral.events import BrokenAnswer

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
