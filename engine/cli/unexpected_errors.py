"""What a command prints for an exception that nothing expected: a finding, not a traceback.

The finding names the type of the exception and the line of this program, not the exception's text,
which may hold a secret of the config. MODELWAY_DEBUG=1 prints the traceback.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import quoteattr

import click

from engine.cli import check_formats
from engine.cli.check_formats import Report
from engine.config.config_files import ConfigFiles
from engine.source.failure_place import failure_place
from engine.source.files import HOME
from engine.source.problem import Level, Place, Problem, render

CODE = "MW214"
_DEBUG = "MODELWAY_DEBUG"
_HINT = f"report it with this file, please; {_DEBUG}=1 prints the traceback for the report"
_DEFAULT = "gateway.yaml"
_OF_CHECK = frozenset(check_formats.names()) - {"text"}


def finding(error: Exception, file: str) -> Problem:
    """The finding for an exception that was raised while `file` was read."""
    if os.environ.get(_DEBUG):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    place = failure_place(error) or Place(file, 0, 0)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        message = f"{os.fsdecode(error.filename)}: {error.strerror}"
        return Problem(*place, Level.ERROR, CODE, message)
    message = f"a mistake of Modelway on this input: {_cause(error)}"
    return Problem(*place, Level.ERROR, CODE, message, _HINT)


def report(error: Exception, arguments: Sequence[str]) -> None:
    """Print the finding for an exception, in the format that a command's arguments ask for."""
    problem = finding(error, _file(arguments))
    excerpts = texts(problem)
    name = _format(arguments)
    if name in _OF_CHECK or arguments[:1] == ["check"]:
        format_name = name if name in _OF_CHECK else "text"
        check_report = Report({problem.file: [problem]}, [problem], excerpts, failed=True)
        click.echo(check_formats.render(format_name, check_report), nl=False)
    elif name == "junit":
        click.echo(_as_junit(problem))
    else:
        click.echo(render(problem, excerpts), err=True)


def _cause(error: Exception) -> str:
    """The type of an exception, and the innermost line of this program that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    program_frames = [frame for frame in frames if Path(frame.filename).is_relative_to(HOME)]
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    return f"{type(error).__name__} in {_line(program_frames or frames)}"


def _line(frames: Sequence[traceback.FrameSummary]) -> str:
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown code"


def _file(arguments: Sequence[str]) -> str:
    """The first file that the arguments name: as a config, else as any argument."""
    configs = _values(arguments, ("-c", "--config"))
    if configs:
        return configs[0]
    if path := os.environ.get("MODELWAY_CONFIG"):
        return str(ConfigFiles.parse(path).main)
    return next(filter(os.path.isfile, arguments[1:]), _DEFAULT)


def _format(arguments: Sequence[str]) -> str:
    if "--json" in arguments:
        return "json"
    return next(iter(_values(arguments, ("--format",))), "text")


def _values(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """The values of an option: `--format json`, `--format=json`, `-cFILE`."""
    values = [value for name, value in pairwise(arguments) if name in options]
    for argument in arguments:
        for option in options:
            mark = f"{option}=" if option.startswith("--") else option
            if argument.startswith(mark) and argument != option:
                values.append(argument.removeprefix(mark))
    return values


def texts(problem: Problem) -> dict[str, str]:
    """The text of the problem's file, for its excerpt; nothing for a problem without a line."""
    try:
        text = Path(problem.file).read_text("utf-8-sig") if problem.line else ""
    except (OSError, ValueError):
        return {}
    return {problem.file: text}


def _as_junit(problem: Problem) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>'
        '<testsuite name="modelway" tests="1" failures="0" errors="1" skipped="0">'
        f'<testcase classname={quoteattr(problem.file)} name="modelway test">'
        f"<error message={quoteattr(str(problem))}/></testcase></testsuite></testsuites>"
    )
