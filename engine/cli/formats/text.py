"""For people: each problem with its lines, marks under the word that is meant, and the hint."""

from __future__ import annotations

import click

from engine.cli.formats import Report, tally
from engine.source.excerpt import Excerpt, excerpt, printable
from engine.source.problem import Level, Problem

_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "cyan"}
_CONTEXT = 1


def render(report: Report) -> str:
    if report.quiet and not report.problems:
        return ""
    paint = click.style if report.colour else _plain
    shown = [_problem(problem, report, paint) for problem in report.problems]
    for file, problems in report.files.items():
        if report.quiet and not problems:
            continue
        colour = max((_COLOURS[p.level] for p in problems), key=_worst, default="green")
        shown.append(f"{printable(file)}: {paint(tally(problems), fg=colour)}")
    if len(report.files) > 1:
        shown.append(f"{len(report.files)} files: {tally(report.problems)}")
    return "\n".join(shown) + "\n"


def _worst(colour: str) -> int:
    return ["green", "cyan", "yellow", "red"].index(colour)


def _plain(text: str, **style: object) -> str:
    return text


def _problem(problem: Problem, report: Report, paint: object) -> str:
    assert callable(paint)
    colour = _COLOURS[problem.level]
    place = f"{problem.file}:{problem.line}:{problem.column}" if problem.line else problem.file
    place = printable(place)
    level = paint(f"{problem.level}:", fg=colour, bold=True)
    message = paint(problem.message, bold=True)
    shown = [f"{paint(place, bold=True)}: {level} {message} {paint(f'[{problem.code}]', dim=True)}"]
    text = report.texts.get(problem.file, "")
    found = excerpt(text, problem.line, problem.column, _CONTEXT)
    if found is not None:
        shown += _excerpt(found, colour, paint)
    if problem.hint:
        shown.append(f"  {paint('hint:', fg='green')} {problem.hint}")
    return "\n".join(shown)


def _excerpt(found: Excerpt, colour: str, paint: object) -> list[str]:
    assert callable(paint)
    width = len(str(found.lines[-1][0]))
    shown = []
    for number, line in found.lines:
        gutter = paint(f"  {number:>{width}} |", dim=True)
        shown.append(f"{gutter} {line}".rstrip())
        if number == found.line:
            marks = found.marks.lstrip(" \t")
            blanks = found.marks[: len(found.marks) - len(marks)]
            gutter = paint(f"  {'':{width}} |", dim=True)
            shown.append(f"{gutter} {blanks}{paint(marks, fg=colour, bold=True)}")
    return shown
