"""For code scanning: a SARIF 2.1.0 log (OASIS standard). Places count in Unicode code points."""

from __future__ import annotations

import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.cli.check_formats import Report
from engine.offline.explanations import Explanation, explanation
from engine.source.problem import Level, Problem

_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(report: Report) -> str:
    codes = sorted({problem.code for problem in report.problems})
    driver = {
        "name": "modelway",
        "semanticVersion": metadata.version("modelway"),
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, codes) for problem in report.problems],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    manual: Explanation | None = explanation(code)
    if manual is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": manual.title},
        "help": {"text": manual.text, "markdown": manual.text},
    }


def _result(problem: Problem, codes: list[str]) -> dict[str, Any]:
    text = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
    if problem.line:
        place["region"] = {"startLine": problem.line, "startColumn": problem.column}
    return {
        "ruleId": problem.code,
        "ruleIndex": codes.index(problem.code),
        "level": _LEVELS[problem.level],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    """The URI of a file, relative to the working directory if the file is below it."""
    path = Path(file)
    if path.is_absolute():
        if not path.is_relative_to(Path.cwd()):
            return path.as_uri()
        path = path.relative_to(Path.cwd())
    return quote(os.fsencode(path.as_posix()), safe="/")
