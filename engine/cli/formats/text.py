"""For people: each problem with its line, a mark under the place, and a hint."""

from __future__ import annotations

from collections.abc import Callable

import click

from engine.cli.formats import Report, tally
from engine.source.excerpt import Excerpt, excerpt, printable
from engine.source.problem import Level, Problem

_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "cyan"}
_CONTEXT = 1

Paint = Callable[..., str]
"""Adds a style to text, as `click.style` does."""


def render(report: Report) -> str:
    if report.quiet and not report.problems:
        return ""
    paint = click.style if report.colour else _plain
    blocks = [_problem(problem, report, paint) for problem in report.problems]
    for file, problems in report.files.items():
        if report.quiet and not problems:
            continue
        colour = max((_COLOURS[p.level] for p in problems), key=_worst, default="green")
        blocks.append(f"{printable(file)}: {paint(tally(problems), fg=colour)}")
    if len(report.files) > 1:
        blocks.append(f"{len(report.files)} files: {tally(report.problems)}")
    return "\n".join(blocks) + "\n"


def _worst(colour: str) -> int:
    return ["green", "cyan", "yellow", "red"].index(colour)


def _plain(text: str, **style: object) -> str:
    return text


def _problem(problem: Problem, report: Report, paint: Paint) -> str:
    colour = _COLOURS[problem.level]
    place = f"{problem.file}:{problem.line}:{problem.column}" if problem.line else problem.file
    place = printable(place)
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
