"""The report of `check` as workflow commands of GitHub."""

import pytest

from engine.cli import check_formats
from engine.source.problem import Level, Problem
from tests.support.commands import modelway, report


def test_github_gets_a_command_for_each_problem(folder):
    assert modelway("check", "--format", "github", "bad.yaml").stdout.splitlines() == [
        "::error file=bad.yaml,line=4,col=65,title=MW313::unknown upstream 'mian'%0A"
        "did you mean 'main'?",
        "bad.yaml: 1 error",
    ]


@pytest.mark.parametrize(
    ("level", "command"), [("error", "error"), ("warning", "warning"), ("info", "notice")]
)
def test_github_knows_a_command_for_every_level(level, command):
    problem = Problem("f.yaml", 0, 0, Level(level), "MW101", "m")
    first = check_formats.render("github", report(problem)).splitlines()[0]
    assert first == f"::{command} file=f.yaml,title=MW101::m"


def test_a_problem_cannot_inject_a_workflow_command():
    problem = Problem(
        "a,b:c%\n::error::x", 1, 1, Level.ERROR, "MW101", "x\r\n::error::100%", "\n::h"
    )
    output = check_formats.render("github", report(problem))
    assert output.splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax,line=1,col=1,title=MW101"
        "::x␍␊::error::100%25%0A␊::h"
    )
    assert [line for line in output.splitlines() if line.startswith("::")] == [
        output.splitlines()[0]
    ]
