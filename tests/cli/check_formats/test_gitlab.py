"""The report of `check` as Code Quality of GitLab."""

import json

import pytest

from engine.cli import check_formats
from engine.source.problem import Level, Problem
from tests.support.commands import modelway, report


def test_gitlab_gets_a_row_for_each_problem(folder):
    (row,) = json.loads(modelway("check", "--format", "gitlab", "bad.yaml").stdout)
    assert len(row.pop("fingerprint")) == 64
    assert row == {
        "description": "unknown upstream 'mian'; did you mean 'main'?",
        "check_name": "MW313",
        "severity": "blocker",
        "location": {"path": "bad.yaml", "lines": {"begin": 4}},
    }


@pytest.mark.parametrize(
    ("level", "severity"), [("error", "blocker"), ("warning", "major"), ("info", "info")]
)
def test_every_level_has_a_severity(level, severity):
    problem = Problem("f.yaml", 0, 0, Level(level), "MW101", "m")
    (row,) = json.loads(check_formats.render("gitlab", report(problem)))
    assert (row["severity"], row["location"]["lines"]) == (severity, {"begin": 1})


def test_a_problem_that_moves_stays_the_same():
    rows = [
        json.loads(
            check_formats.render(
                "gitlab", report(Problem("f.yaml", line, 1, Level.ERROR, "MW101", text))
            )
        )[0]["fingerprint"]
        for line, text in [(1, "m"), (9, "m"), (1, "n")]
    ]
    assert rows[0] == rows[1] != rows[2]
