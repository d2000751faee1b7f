"""Mirrors copy something, and their targets can get it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.rehearsing import CONFIG, ENVIRON, patched, write

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
