"""For programs: one JSON object. Its keys are stable; new ones may be added."""

from __future__ import annotations

import json

from engine.cli.check_formats import Report, count


def render(report: Report) -> str:
    document = {
        "version": 1,
        "ok": not report.failed,
        "summary": count(report.problems),
        "files": [{"file": file, **count(problems)} for file, problems in report.files.items()],
        "problems": [
            {
                "code": problem.code,
                "level": str(problem.level),
                "file": problem.file,
                "line": problem.line or None,
                "column": problem.column or None,
                "message": problem.message,
                "hint": problem.hint or None,
            }
            for problem in report.problems
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
