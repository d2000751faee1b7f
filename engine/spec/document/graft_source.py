"""The file behind a value that an overlay or a conversion has put into a document."""

from __future__ import annotations

from msgspec import Struct

from engine.source.problem import Path, Problem
from engine.source.reader import SourceDocument


class GraftSource(Struct, frozen=True):
    """The file from which a value of a document comes: an overlay, or, for a value that a
    conversion moved, the document as its author wrote it.

    `at_document` is its path in the document, `at_file` its path in the file.
    """

    origin: SourceDocument
    at_document: Path
    at_file: Path

    @property
    def file(self) -> str:
        return self.origin.file

    @property
    def text(self) -> str:
        return self.origin.text

    @property
    def problems(self) -> list[Problem]:
        return self.origin.problems

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column in the file of the value at `path` of the document."""
        return self.origin.place((*self.at_file, *path[len(self.at_document) :]), key=key)

    def redact(self, words: str) -> str:
        return self.origin.redact(words)
