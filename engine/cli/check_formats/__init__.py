"""Output formats of `modelway check`. One file is one format: a module that defines `render`. Read
`text.py` first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType

from msgspec import Struct

from engine.source.problem import Level, Problem
from engine.values.discovery import Plugins
from engine.values.units import format_count


class Report(Struct, frozen=True):
    """The result of a check. `files` are the problems of each config, by its name on the command
    line; `problems` are all of them without duplicates. `texts` are the texts of the files that
    problems name. `failed` decides the exit status; `quiet` omits files without problems. A text is
    `complete` if it has every problem of a code. `serve` is the command that serves the config;
    a config that `lacks_tokens` would refuse every caller.
    """

    files: Mapping[str, Sequence[Problem]]
    problems: Sequence[Problem]
    texts: Mapping[str, str]
    failed: bool
    colour: bool = False
    quiet: bool = False
    complete: bool = False
    serve: str = "modelway serve"
    lacks_tokens: bool = False


_FORMATS: Plugins[Callable[[Report], str]] = Plugins(__name__, "render", FunctionType)


def names() -> list[str]:
    """The names of all formats, that for people first."""
    return sorted(_FORMATS.names(), key=lambda name: (name != "text", name))


def render(name: str, report: Report) -> str:
    """The report in a format, one of `names()`: text for standard output."""
    return _FORMATS.get(name)(report)


_CONSEQUENCES = frozenset({"MW209", "MW308", "MW318", "MW406", "MW435"})
"""Codes of what most often follows from another problem: operations that are not served, and
upstreams and models that nothing uses."""


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems as people read them: errors, warnings, infos; consequences after causes."""
    levels = list(Level)
    return sorted(problems, key=lambda p: (levels.index(p.level), p.code in _CONSEQUENCES, p))


def count(problems: Iterable[Problem]) -> dict[str, int]:
    """The number of problems of each level, the most severe first."""
    counts = Counter(problem.level for problem in problems)
    return {str(level): counts[level] for level in Level}


def tally(problems: Iterable[Problem]) -> str:
    """`2 errors, 1 warning`, or `no problems`."""
    parts = [format_count(n, level) for level, n in count(problems).items() if n]
    return ", ".join(parts) or "no problems"
