"""For GitHub Actions: each problem as an annotation of its line, then the tally of each file."""

from __future__ import annotations

from engine.cli.check_formats import Report, tally
from engine.source.excerpt import annotation, escape
from engine.source.problem import Level, Problem

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}


def render(report: Report) -> str:
    lines = [_annotation(problem) for problem in report.problems]
    lines += [
        escape(f"{file}: {tally(problems)}")
        for file, problems in report.files.items()
        if problems or not report.quiet
    ]
    return "".join(f"{line}\n" for line in lines)


def _annotation(problem: Problem) -> str:
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return annotation(
        _COMMANDS[problem.level],
        problem.code,
        message,
        file=problem.file,
        line=problem.line,
        column=problem.column,
    )
