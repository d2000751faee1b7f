"""Efforts and budgets of reasoning."""

from __future__ import annotations

from engine.translations.neutral.effort import budget_of, effort_of, nearest_effort
from tests.support.each import each


@each(
    ("budget", "effort"),
    [
        (0, "minimal"),
        (1024, "minimal"),
        (2048, "low"),
        (8191, "medium"),
        (8192, "high"),
        (99_999, "max"),
    ],
)
def test_a_budget_is_as_much_as_the_effort_that_it_is_enough_for(budget: int, effort: str) -> None:
    assert effort_of(budget) == effort


def test_an_effort_has_the_budget_that_comes_to_it() -> None:
    for effort in ("minimal", "low", "medium", "high", "xhigh", "max"):
        assert effort_of(budget_of(effort)) == effort


@each(
    ("effort", "nearest"),
    [("minimal", "low"), ("low", "low"), ("xhigh", "high"), ("max", "max"), ("odd", "medium")],
)
def test_a_model_gets_the_nearest_effort_that_it_has(effort: str, nearest: str) -> None:
    assert nearest_effort(effort, ("low", "medium", "high", "max")) == nearest
