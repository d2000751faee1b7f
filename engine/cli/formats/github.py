"""For GitHub Actions: a workflow command per problem, which becomes a note beside its line.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from engine.cli.formats import Report, tally
from engine.source.problem import Level, Problem

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


def render(report: Report) -> str:
    shown = [_command(problem) for problem in report.problems]
    told = {file: found for file, found in report.files.items() if found or not report.quiet}
    shown += [_escaped(f"{file}: {tally(found)}", _DATA) for file, found in told.items()]
    return "".join(f"{line}\n" for line in shown)


def _command(problem: Problem) -> str:
    said = {"file": problem.file}
    if problem.line:
        said |= {"line": str(problem.line), "col": str(problem.column)}
    said["title"] = problem.code
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    properties = ",".join(f"{key}={_escaped(text, _PROPERTY)}" for key, text in said.items())
    return f"::{_COMMANDS[problem.level]} {properties}::{_escaped(message, _DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
