"""A problem: one finding in a file an operator wrote, with its place.

`file:line:column: level: message [code]`, then the line with a caret, then a hint. Problems are
values: they sort by place and are all shown at once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from engine.source.excerpt import excerpt, printable

Path = tuple[str | int, ...]
"""The path of a value in a YAML or JSON file: keys and indexes."""


def path_order(path: Path) -> list[tuple[bool, int, str]]:
    """A sort key for paths that orders list items by index."""
    return [(isinstance(s, str), s if isinstance(s, int) else 0, str(s)) for s in path]


def path_in(value: object, steps: Iterable[str | int]) -> Path:
    """The path of a jsonschema_rs error, in the names of the value: jsonschema_rs turns names that
    are digits into numbers ("01" and "+1" into 1). It ends where several names are possible."""
    path: list[str | int] = []
    for step in steps:
        if isinstance(value, dict):
            names = [step] if step in value else _names_of_number(value, step)
            if len(names) != 1:
                break
            path.append(names[0])
            value = value[names[0]]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            path.append(step)
            value = value[step]
        else:
            break
    return tuple(path)


def _names_of_number(value: Mapping[str, object], step: str | int) -> list[str]:
    numbers = {name: _NUMBER.fullmatch(name) for name in value}
    return [name for name, match in numbers.items() if match is not None and match[1] == str(step)]


_NUMBER = re.compile(r"\+?0*(0|[1-9][0-9]*)")
"""A name that jsonschema_rs reads as a number: it may have more digits than Python reads."""
_NOT_BLANK = re.compile(r"\S")


class Level(StrEnum):
    """How bad a finding is: an error stops the gateway, a warning and an info do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One finding. `line` and `column` count from 1; 0 means the file as a whole. `path` is that of
    the value in its file or document, if it was noted with one.

    `message` and `hint` are made one printable line each: the file may be untrusted.
    """

    file: str
    line: int
    column: int
    level: Level
    code: str
    message: str
    hint: str = ""
    path: Path = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", printable(self.message))
        object.__setattr__(self, "hint", printable(self.hint))

    def __str__(self) -> str:
        return f"{printable(str(self.place))}: {self.level}: {self.message} [{self.code}]"

    @property
    def place(self) -> Place:
        return Place(self.file, self.line, self.column)


class Source(Protocol):
    """A file with the position of each value; `redact` replaces the values of secrets."""

    @property
    def file(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def problems(self) -> list[Problem]: ...

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]: ...

    def redact(self, words: str) -> str: ...


class MultiFileSource(ABC):
    """A source whose values are in several files: a base class, as to compare an object with a
    protocol takes 60 us."""

    __slots__ = ()

    @abstractmethod
    def part(self, path: Path) -> tuple[Source, Path]:
        """The file that holds a value, and the path of the value in it."""


class Place(NamedTuple):
    """The place of a value; `line` and `column` count from 1, and are 0 for a file as a whole."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


def part_of(source: Source, path: Path) -> tuple[Source, Path]:
    """The file that holds a value of a source, and the path of the value in that file."""
    return source.part(path) if isinstance(source, MultiFileSource) else (source, path)


def place_of(source: Source, path: Path, *, key: bool = False) -> Place:
    """The place of a value, or of its key, in the file that holds it."""
    source, path = part_of(source, path)
    return Place(source.file, *source.place(path, key=key))


@dataclass(slots=True)
class Findings:
    """A collection of problems, added in any order and sorted by place when read.

    `texts` has the texts of their files, by the file names in the problems.
    """

    unsorted: list[Problem] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def add_source(self, source: Source) -> None:
        """Add the syntax problems of a file, and keep its text for excerpts."""
        self.unsorted.extend(source.problems)
        self.texts[source.file] = source.text

    def mask(self, file: str, spans: Iterable[tuple[int, int]]) -> None:
        """Replace these spans (start, end) of a file's text by stars in excerpts."""
        text = self.texts[file]
        for start, end in spans:
            text = text[:start] + _NOT_BLANK.sub("*", text[start:end]) + text[end:]
        self.texts[file] = text

    def error(
        self,
        source: Source,
        path: Path,
        code: str,
        message: str,
        hint: str = "",
        *,
        key: bool = False,
    ) -> None:
        """Note an error at `path`: at the value, or at its key when `key` is true."""
        self.note(source, path, Level.ERROR, code, message, hint, key=key)

    def note(
        self,
        source: Source,
        path: Path,
        level: Level,
        code: str,
        message: str,
        hint: str = "",
        *,
        key: bool = False,
    ) -> None:
        """Note a finding of any level at `path`."""
        message, hint = source.redact(message), source.redact(hint)
        source, at = part_of(source, path)
        self.texts.setdefault(source.file, source.text)
        place = Place(source.file, *source.place(at, key=key))
        self.unsorted.append(Problem(*place, level, code, message, hint, path))

    @property
    def problems(self) -> list[Problem]:
        """All problems, without duplicates, sorted by place."""
        return sorted(set(self.unsorted))

    @property
    def errors(self) -> list[Problem]:
        """The problems that stop the gateway."""
        return [problem for problem in self.problems if problem.level is Level.ERROR]


def render(problem: Problem, texts: Mapping[str, str]) -> str:
    """The problem as text: its line, the source line with a caret, and the hint.

    `texts` holds the text of each file by name; a file that is not in it gets no excerpt.
    """
    lines = [str(problem)]
    place = excerpt(texts.get(problem.file, ""), problem.line, problem.column)
    if place is not None:
        number, line = place.lines[0]
        caret = place.marks.rstrip("~")
        lines += [f"  {number} | {line}", f"  {' ' * len(str(number))} | {caret}"]
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines)
