"""The formats of `modelway check`, and how problems are counted."""

import pytest

from engine.cli import check_formats
from engine.source.problem import Level, Problem
from tests.support.commands import report


def problem(level):
    return Problem("f.yaml", 1, 1, level, "MW000", "wrong")


ERROR, WARNING, INFO = map(problem, (Level.ERROR, Level.WARNING, Level.INFO))


@pytest.mark.parametrize("name", check_formats.names())
def test_every_format_renders_a_report(name):
    assert "wrong" in check_formats.render(name, report(ERROR))


def test_a_file_of_the_folder_is_a_format():
    assert check_formats.names() == ["text", "github", "gitlab", "json", "sarif"]


def test_every_level_is_counted_the_most_severe_first():
    counts = check_formats.count([INFO, WARNING, WARNING])
    assert list(counts.items()) == [("error", 0), ("warning", 2), ("info", 1)]


@pytest.mark.parametrize(
    ("problems", "words"),
    [
        ([], "no problems"),
        ([ERROR], "1 error"),
        ([WARNING, ERROR, ERROR], "2 errors, 1 warning"),
    ],
)
def test_a_tally_names_the_levels_that_there_are(problems, words):
    assert check_formats.tally(problems) == words


def test_consequences_come_after_causes_of_the_same_level():
    places = [
        (1, Level.WARNING, "MW209"),
        (2, Level.WARNING, "MW204"),
        (3, Level.ERROR, "MW313"),
        (4, Level.INFO, "MW306"),
    ]
    problems = [Problem("f", line, 1, level, code, "words") for line, level, code in places]
    assert [problem.line for problem in check_formats.in_order(problems)] == [3, 2, 1, 4]
