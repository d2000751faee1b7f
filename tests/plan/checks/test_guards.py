"""The webhook of a guard exists, and sessions are not judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.rehearsing import CONFIG, ENVIRON, patched, write

CODES = ("MW101", "MW102", "MW104", "MW313", "MW318", "MW546", "MW547")


def problems(folder: Path, options: Any, **patch: Any) -> list[tuple[str, str]]:
    config = patched(CONFIG, {"policies": [{"guard": options}], **patch})
    found = make_plan(write(folder, config), ENVIRON).problems
    return [(problem.code, problem.message) for problem in found if problem.code in CODES]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"webhook": "https://guard.example.com/judge?x=1"}, ["MW546"]),
        ({"webhook": "https://guard.example.com/judge"}, []),
        ({"webhook": "spare"}, []),
        ({"webhook": "spaer"}, ["MW313"]),
        ({"webhook": "ftp://guard.example.com"}, ["MW546"]),
        ({"webhook": "https://"}, ["MW546"]),
        ({"webhook": "spare", "window": 50}, ["MW104"]),
        ({"webhok": "spare"}, ["MW101"]),
        ({"webhook": "spare", "mode": "warn"}, ["MW104"]),
    ],
)
def test_options_of_a_guard(tmp_path: Path, options: Any, expected: list[str]) -> None:
    assert sorted({code for code, _ in problems(tmp_path, options)}) == expected


def test_an_upstream_that_only_a_guard_uses_is_used(tmp_path: Path) -> None:
    upstreams = {"presidio": {"url": "https://guard.example.com"}}
    assert problems(tmp_path, {"webhook": "presidio"}, upstreams=upstreams) == []
