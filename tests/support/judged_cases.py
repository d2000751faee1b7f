"""Cases of `modelway test` on the project of `rehearsing`: written, read and run."""

from __future__ import annotations

from typing import Any

from engine.offline.cases import read
from engine.offline.cases.read import Case
from engine.offline.cases.run import Result, run
from engine.plan.plan import PlanResult
from engine.source.problem import Findings
from tests.support import yaml_text

CHAT = {
    "name": "chat",
    "request": {
        "method": "POST",
        "path": "/v1/chat",
        "token": "alice",
        "headers": {"x-note": "n"},
        "body": {"model": "big", "messages": [{"role": "user"}]},
    },
}
FILE = "a.test.yaml"


def case(expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A case of a chat that expects this."""
    return {**CHAT, **more, "expect": expect}


def read_cases(project: PlanResult, findings: Findings, *cases: dict[str, Any]) -> list[Case]:
    """The cases, read from a file of the project."""
    assert project.plan is not None
    file = project.plan.config.folder / FILE
    file.write_text(yaml_text.dump({"tests": list(cases)}))
    return read.of_file(file, FILE, project, findings)


def results(project: PlanResult, *cases: dict[str, Any]) -> list[Result]:
    """The results of cases without problems."""
    assert project.plan is not None
    findings = Findings()
    listed = read_cases(project, findings, *cases)
    assert findings.problems == []
    return list(run(listed, project.plan))


def result_of(project: PlanResult, expect: dict[str, Any], **more: Any) -> Result:
    """The result of a single case."""
    (result,) = results(project, case(expect, **more))
    return result
