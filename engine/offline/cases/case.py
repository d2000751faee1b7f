"""A case as written, with the place of each of its expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.offline.rehearsal.observation import Answers, Request
from engine.source.problem import Path, Place, Source, place_of
from engine.values.caller import Caller


@dataclass(frozen=True, slots=True)
class Case:
    """`expect` holds the expectations by name; `at` is the case's path in its `source`."""

    name: str
    request: Request
    caller: Caller | None
    answers: Answers
    expect: Mapping[str, Any]
    source: Source
    at: Path

    def place(self, *steps: str) -> Place:
        """Where an expectation stands, or the case as a whole."""
        return place_of(self.source, (*self.at, "expect", *steps) if steps else self.at)


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that was not met."""

    place: Place
    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}: expected {self.expected}, found {self.found}"
