"""The report of `check` for people: colours for terminals, no control characters."""

import re

from engine.cli import check_formats
from engine.source.problem import Level, Problem
from tests.support.commands import modelway, report


def test_only_terminals_get_colours(folder):
    problem = Problem("f.yaml", 0, 0, Level.ERROR, "MW101", "m", "h")
    assert "\x1b[31m" in check_formats.render("text", report(problem, colour=True))
    assert "\x1b" not in check_formats.render("text", report(problem))
    assert "\x1b" not in modelway("check", "bad.yaml").output
    plain = re.sub(
        r"\x1b\[[0-9;]*m", "", check_formats.render("text", report(problem, colour=True))
    )
    assert plain == check_formats.render("text", report(problem))
