"""How `modelway check` says what it found. One file, one format: a module that defines `render`."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.source.problem import Level, Problem


@dataclass(frozen=True, slots=True)
class Report:
    """What was found. `files` are the configs as they were named, each with its own problems;
    `problems` are all of them once. `texts` are the files' texts by the names that problems use.
    `failed` tells whether it comes to a failure. `quiet`: people are told nothing of what is right.
    """

    files: Mapping[str, Sequence[Problem]]
    problems: Sequence[Problem]
    texts: Mapping[str, str]
    failed: bool
    colour: bool = False
    quiet: bool = False


def names() -> list[str]:
    """The formats there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def render(name: str, report: Report) -> str:
    """The report in a format, one of `names()`: text for standard output."""
    rendered = importlib.import_module(f"{__name__}.{name}").render(report)
    assert isinstance(rendered, str)
    return rendered


def count(problems: Iterable[Problem]) -> dict[str, int]:
    """How many problems there are of each level, the worst first; levels with none as well."""
    counted = Counter(problem.level for problem in problems)
    return {str(level): counted[level] for level in Level}


def tally(problems: Iterable[Problem]) -> str:
    """`2 errors, 1 warning`, or `no problems`."""
    said = [f"{n} {level}{'s' if n > 1 else ''}" for level, n in count(problems).items() if n]
    return ", ".join(said) or "no problems"
