"""Read credentials without a config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine import credentials
from engine.credentials import Context, Credential


class Problems:
    """What the readers of credentials note: place, message, hint and code."""

    def __init__(self) -> None:
        self.noted: list[tuple[tuple[str | int, ...], str, str, str]] = []

    def error(
        self, at: tuple[str | int, ...], message: str, hint: str = "", code: str = "MW105"
    ) -> None:
        self.noted.append((at, message, hint, code))

    def context(
        self,
        folder: Path,
        url: str = "https://upstream.test/v1",
        variables: Mapping[str, str] | None = None,
    ) -> Context:
        return Context(url, folder, self.error, variables or {})


def read(section: Mapping[str, Any], folder: Path = Path(), **more: Any) -> Credential:
    """The credential of a section without a problem."""
    problems = Problems()
    credential = credentials.read(section, problems.context(folder, **more))
    assert credential is not None, problems.noted
    assert problems.noted == []
    return credential


def problems_of(section: Mapping[str, Any], folder: Path = Path(), **more: Any) -> list[Any]:
    """The problems of a section."""
    problems = Problems()
    credentials.read(section, problems.context(folder, **more))
    return problems.noted
