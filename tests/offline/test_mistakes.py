"""Mistakes that people make: `check` catches them, at their places, with the words that help."""

from collections import Counter

import pytest

from tests.support import mistakes
from tests.support.each import each
from tests.support.mistakes import findings, findings_of, project, score, sets

LEAST = {"caught": 98, "line": 97, "column": 95, "hint": 93}
"""The share of the mistakes, in percent, of which the first finding must have this right."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = project(tmp_path)
    monkeypatch.chdir(folder)
    return folder


def test_nothing_is_wrong_with_the_project_itself(folder):
    assert findings(folder) == []
    assert findings(folder, overlay=True) == []


def test_there_are_many_mistakes_of_many_kinds():
    names = [mistake.name for name in sets() for mistake in mistakes.mistakes(name)]
    assert len(names) >= 410
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("name", sets())
def test_the_first_finding_of_a_mistake_is_right(name, folder):
    """But for what an entry says under `but`: it is not right yet."""
    wrong = []
    for mistake in mistakes.mistakes(name):
        problems = findings_of(mistake, folder)
        missed = [part for part in score(mistake, problems).wrong if part not in mistake.but]
        if missed:
            shown = [f"{problem} | {problem.hint}" for problem in problems[:2]]
            wrong.append((mistake.name, missed, shown))
    assert wrong == []


@each("part", LEAST)
def test_most_mistakes_are_met_by_the_right_finding(part):
    every = [mistake for name in sets() for mistake in mistakes.mistakes(name)]
    due = [mistake for mistake in every if part != "hint" or mistake.hint]
    right = [mistake for mistake in due if part not in mistake.but]
    assert len(right) >= len(due) * LEAST[part] / 100
