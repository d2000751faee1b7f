"""For GitHub Actions: a workflow command per problem, which becomes an annotation of its line.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from engine.cli.formats import Report, tally
from engine.source.problem import Level, Problem

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


def render(report: Report) -> str:
    lines = [_command(problem) for problem in report.problems]
    files = {file: each for file, each in report.files.items() if each or not report.quiet}
    lines += [_escape(f"{file}: {tally(problems)}", _DATA) for file, problems in files.items()]
    return "".join(f"{line}\n" for line in lines)


def _command(problem: Problem) -> str:
    fields = {"file": problem.file}
    if problem.line:
        fields |= {"line": str(problem.line), "col": str(problem.column)}
    fields["title"] = problem.code
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    properties = ",".join(f"{key}={_escape(text, _PROPERTY)}" for key, text in fields.items())
    return f"::{_COMMANDS[problem.level]} {properties}::{_escape(message, _DATA)}"


def _escape(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
