"""Places and prices that strategies compare; other faults of `choose` are cases of configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.files import DOCUMENTS
from tests.support.rehearsing import CONFIG, ENVIRON, patched, planned, write


def codes(folder: Path, patch: dict[str, Any]) -> list[str]:
    result = make_plan(write(folder, patched(CONFIG, patch)), ENVIRON)
    return [problem.code for problem in result.problems if problem.code in ("MW382", "MW383")]


def of_model(place: str) -> dict[str, Any]:
    return {"models": {"big": {"choose": {"affinity": place}}}}


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("$request.body#/messages", []),
        ("$request.path.model", []),  # one of its two operations has it
        ("$request.query.page", []),
        ("$request.header.x-undeclared", []),
        ("$request.body#/messages/0/nothing", []),
        ("$request.query.pages", ["MW382"]),
        ("$request.path.item", ["MW382"]),
    ],
)
def test_a_place_is_looked_for_in_all_operations_of_the_model(
    tmp_path: Path, place: str, expected: list[str]
) -> None:
    assert codes(tmp_path, of_model(place)) == expected


def test_a_fallback_with_a_price_does_not_help_its_model(tmp_path: Path) -> None:
    patch = {"models": {"big": {"choose": "cheapest"}}, "prices": {"small": {"input": 1}}}
    assert codes(tmp_path, patch) == ["MW383"]


@pytest.mark.parametrize(
    ("choose", "needs"),
    [
        ({"affinity": "$request.body#/user"}, True),
        ({"affinity": {"prompt": 100}}, True),
        ({"affinity": "$request.header.x-session"}, False),
        ("least_busy", False),
    ],
)
def test_a_body_is_parsed_where_a_choice_reads_it(tmp_path: Path, choose: Any, needs: bool) -> None:
    """The route that names its model in the path, and the fixed one, parse no body otherwise."""
    patch = {"models": {"big": {"choose": choose}}}
    plan = planned(tmp_path, patched(CONFIG, patch)).plan
    assert plan is not None
    by_id = {route.operation.id: route for route in plan.routes}
    assert by_id["shop.say"].needs_body == needs
    assert not by_id["shop.show"].needs_body


def test_an_operation_whose_translations_an_upstream_is_missing_does_not_count(
    tmp_path: Path,
) -> None:
    """Only createMessage has `messages`, and its target has no path for a translated one."""
    config = f"""
version: 1
specs:
  openai: {{document: {DOCUMENTS / "openai.yaml"}, dialect: openai}}
  anthropic: {{document: {DOCUMENTS / "anthropic.yaml"}, dialect: anthropic}}
upstreams:
  west:
    url: https://west.example
    dialect: openai
    missing_paths: [/chat/completions, /responses]
models:
  small: {{to: [{{upstream: west}}], choose: {{affinity: $request.body#/messages}}}}
routes:
  - operations: [openai.createSpeech, anthropic.createMessage]
    model: $request.body#/model
"""
    result = make_plan(write(tmp_path, config), ENVIRON)
    assert [problem.code for problem in result.problems if problem.code == "MW382"] == ["MW382"]


CLAUDE = {"claude": {"url": "http://claude.test/v1", "dialect": "anthropic"}}


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        ({"to": [{"upstream": "spare"}], "percent": 5}, ["MW548"]),  # no operation has a task
        ({"to": [{"upstream": "spare"}], "percent": 5, "operations": ["shop.chat"]}, []),
        ({"to": [{"upstream": "spare"}], "percent": 5, "operations": ["shop.*"]}, []),
        ({"to": [{"upstream": "spare"}], "percent": 5, "operations": ["shop.show"]}, ["MW548"] * 2),
        ({"to": [{"upstream": "claude"}], "percent": 5, "operations": ["shop.chat"]}, ["MW549"]),
        ({"to": [{"upstream": "gone"}], "percent": 5}, ["MW313"]),
        ({"to": [{"upstream": "spare"}], "percent": 0}, ["MW104"]),
    ],
)
def test_a_mirror(tmp_path: Path, mirror: dict[str, Any], expected: list[str]) -> None:
    config = patched(CONFIG, {"models": {"big": {"mirror": mirror}}, "upstreams": CLAUDE})
    problems = make_plan(write(tmp_path, config), ENVIRON).problems
    codes = [problem.code for problem in problems]
    assert [code for code in codes if code in ("MW104", "MW313", "MW548", "MW549")] == expected
