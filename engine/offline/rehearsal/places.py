"""Where a value of a config or a document stands: its file, line and column."""

from __future__ import annotations

from typing import NamedTuple

from engine.source.problem import Path, Source


class Place(NamedTuple):
    """`line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def part_of(source: Source, path: Path) -> tuple[Source, Path]:
    """The file that holds a value of a source, which may be divided, and its path there."""
    divided = getattr(source, "part", None)
    if divided is None:
        return source, path
    part: tuple[Source, Path] = divided(path)
    return part


def place_of(source: Source, path: Path, *, key: bool = False) -> Place:
    """The place of the value at `path`, or of its key."""
    source, path = part_of(source, path)
    return Place(source.file, *source.place(path, key=key))
