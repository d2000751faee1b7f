"""For people: each problem with its line, a mark under the place, and a hint.

Errors come first, then warnings, then infos; within a level, consequences of other problems come
last. Of each code the first three are printed, unless the report is to be complete. The last line
says what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import click

from engine.cli.check_formats import Report, in_order, tally
from engine.source.excerpt import Excerpt, excerpt, printable
from engine.source.problem import Level, Problem

_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "cyan"}
"""The most severe first."""
_CONTEXT = 1
_MAX_PER_CODE = 3
_NO_CALLERS = "`modelway token new NAME` prints an entry for `tokens`, which has none yet"

Paint = Callable[..., str]
"""Adds a style to text, as `click.style` does."""


def render(report: Report) -> str:
    if report.quiet and not report.problems:
        return ""
    paint = click.style if report.colour else _plain
    blocks = [block for level in Level for block in _blocks(level, report, paint)]
    for file, problems in report.files.items():
        if report.quiet and not problems:
            continue
        colours = {_COLOURS[problem.level] for problem in problems}
        colour = next((c for c in _COLOURS.values() if c in colours), "green")
        blocks.append(f"{printable(file)}: {paint(tally(problems), fg=colour)}")
    if len(report.files) > 1:
        blocks.append(f"{len(report.files)} files: {tally(report.problems)}")
    if not report.quiet:
        blocks.append(f"next: {_next_step(report)}")
    return "\n".join(blocks) + "\n"


def _blocks(level: Level, report: Report, paint: Paint) -> Iterator[str]:
    """The problems of a level, those of a code one after another."""
    by_code: dict[str, list[Problem]] = {}
    for problem in in_order(report.problems):
        if problem.level is level:
            by_code.setdefault(problem.code, []).append(problem)
    for code, problems in by_code.items():
        printed = problems if report.complete else problems[:_MAX_PER_CODE]
        yield from (_problem(problem, report, paint) for problem in printed)
        if hidden := len(problems) - len(printed):
            nouns = f"{level}{'s' if hidden > 1 else ''}"
            more = paint(f"{hidden} more {nouns} [{code}]", bold=True)
            yield f"{more}: `modelway check --all` prints {'them' if hidden > 1 else 'it'}"


def _next_step(report: Report) -> str:
    """What to do about the most severe problems, or with a config that has none."""
    serious = _most_severe(in_order(report.problems))
    token = f"{_NO_CALLERS}; " if report.lacks_tokens else ""
    if not serious:
        return f"{token}`{printable(report.serve)}` runs it"
    noun = f"{serious[0].level}{'s' if len(serious) > 1 else ''}"
    explain = f"`modelway check --explain {serious[0].code}` explains the first"
    if report.failed:
        return f"correct the {noun}, then check again; {explain}"
    return f"read the {noun}; {explain}; {token}`{printable(report.serve)}` runs it as it is"


def _most_severe(problems: Sequence[Problem]) -> Sequence[Problem]:
    """The errors; without any, the warnings."""
    errors = [problem for problem in problems if problem.level is Level.ERROR]
    return errors or [problem for problem in problems if problem.level is Level.WARNING]


def _plain(text: str, **style: object) -> str:
    return text


def _problem(problem: Problem, report: Report, paint: Paint) -> str:
    colour = _COLOURS[problem.level]
    place = printable(str(problem.place))
    level = paint(f"{problem.level}:", fg=colour, bold=True)
    message = paint(problem.message, bold=True)
    lines = [f"{paint(place, bold=True)}: {level} {message} {paint(f'[{problem.code}]', dim=True)}"]
    text = report.texts.get(problem.file, "")
    source = excerpt(text, problem.line, problem.column, _CONTEXT)
    if source is not None:
        lines += _excerpt(source, colour, paint)
    if problem.hint:
        lines.append(f"  {paint('hint:', fg='green')} {problem.hint}")
    return "\n".join(lines)


def _excerpt(source: Excerpt, colour: str, paint: Paint) -> list[str]:
    width = len(str(source.lines[-1][0]))
    lines = []
    for number, line in source.lines:
        gutter = paint(f"  {number:>{width}} |", dim=True)
        lines.append(f"{gutter} {line}".rstrip())
        if number == source.line:
            marks = source.marks.lstrip(" \t")
            blanks = source.marks[: len(source.marks) - len(marks)]
            gutter = paint(f"  {'':{width}} |", dim=True)
            lines.append(f"{gutter} {blanks}{paint(marks, fg=colour, bold=True)}")
    return lines
