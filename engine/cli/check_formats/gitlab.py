"""For GitLab: a Code Quality report, which merge requests show at the lines.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from engine.cli.check_formats import Report
from engine.source.problem import Level, Problem

_SEVERITIES = {Level.ERROR: "blocker", Level.WARNING: "major", Level.INFO: "info"}


def render(report: Report) -> str:
    rows = [_row(problem) for problem in report.problems]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _row(problem: Problem) -> dict[str, Any]:
    text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    identity = f"{problem.code}\0{problem.file}\0{problem.message}"
    return {
        "description": text,
        "check_name": problem.code,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest(),
        "severity": _SEVERITIES[problem.level],
        "location": {"path": problem.file, "lines": {"begin": problem.line or 1}},
    }
