"""A case, and an expectation of it that is not met, both with their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.offline.rehearsal.observation import Request, UpstreamAnswers
from engine.source.problem import Path, Place, Source, place_of
from engine.values.caller import Caller


@dataclass(frozen=True, slots=True)
class Case:
    """`expect` holds the expectations by name; `at` is the case's path in its `source`."""

    name: str
    request: Request
    caller: Caller | None
    answers: UpstreamAnswers
    expect: Mapping[str, Any]
    source: Source
    at: Path

    def place(self, *steps: str) -> Place:
        """The place of an expectation, or of the case."""
        return place_of(self.source, (*self.at, "expect", *steps) if steps else self.at)


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that is not met."""

    place: Place
    expectation: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.place}: {self.expectation}: expected {self.expected}, found {self.actual}"
