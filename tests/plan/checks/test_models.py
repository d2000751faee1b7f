"""Rules of models: requests can meet them, and their targets have the operations. Faults of one
rule are cases of configs (when.yaml, when-places.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.rehearsing import CONFIG, ENVIRON, patched, write

SPARE = [{"upstream": "spare"}]
CLAUDE = {"claude": {"url": "http://claude.test/v1", "dialect": "anthropic"}}


def codes(folder: Path, *rules: dict[str, Any], **patch: Any) -> list[str]:
    config = patched(CONFIG, {"models": {"big": {"when": [*rules]}}, **patch})
    problems = make_plan(write(folder, config), ENVIRON).problems
    return [problem.code for problem in problems if problem.code.startswith("MW54")]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"body": {"messages": {"minItems": 2}}}, []),
        ({"path": {"model": "big"}}, []),  # one of its two operations has it
        ({"path": {"item": "x"}}, ["MW540"]),
        ({"query": {"page": {"minimum": 2}}}, []),
        ({"query": {"page": {"maxLength": 2}}}, []),  # the other operation leaves it open
        ({"header": {"x-undeclared": "x"}}, ["MW544"]),
        ({"header": {"x-undeclared": "x"}, "caller": "alice"}, []),
        ({"header": {"x-undeclared": "x"}, "team": "search"}, []),
    ],
)
def test_a_value_is_looked_for_in_all_operations_of_the_model(
    tmp_path: Path, conditions: Any, expected: list[str]
) -> None:
    assert codes(tmp_path, {"if": conditions, "to": SPARE}) == expected


def test_targets_without_an_operation_of_the_model_are_noted_unless_a_fallback_has_it(
    tmp_path: Path,
) -> None:
    rule = {"if": {"tokens": {"minimum": 9}}, "to": [{"upstream": "claude"}]}
    assert codes(tmp_path / "a", rule, upstreams=CLAUDE) == ["MW543"]
    assert codes(tmp_path / "b", {**rule, "fallback": ["big"]}, upstreams=CLAUDE) == []
