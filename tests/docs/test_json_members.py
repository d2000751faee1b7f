"""The members of JSON that docs/reference/tests.md names are those that explain and test print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.offline.cases import formats
from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.plan.plan import PlanResult
from engine.values.caller import Caller
from tests.support.judged_cases import case, results
from tests.support.paths import ROOT
from tests.support.rehearsing import CONFIG, patched, planned

_PAGE = (ROOT / "docs" / "reference" / "tests.md").read_text("utf-8")
_BODY = b'{"model": "big", "messages": [{}]}'


def named_in(pattern: str) -> set[str]:
    """The names in the part of the page that a pattern matches."""
    match = re.search(pattern, _PAGE, re.DOTALL)
    assert match is not None
    return set(re.findall(r"`(\w+)`", match[1]))


def members(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from members(each)


@pytest.fixture
def result(tmp_path: Path) -> PlanResult:
    transform = {"transform": {"request": {"header": {"set": {"x-a": "blue"}}}}}
    return planned(tmp_path, patched(CONFIG, {"policies": [transform]}))


def test_the_report_of_explain(result: PlanResult) -> None:
    assert result.plan is not None
    requests = [("POST", "/v1/chat", _BODY), ("GET", "/v1/chat", b"")]
    reports = [
        report(result, rehearse(result.plan, request(method, path, (), body), Caller("alice")))
        for method, path, body in requests
    ]
    named = named_in(r"\n`--format json` prints an object:(.+?)\n\n")
    assert {name for each in reports for name in each} - named == set()
    assert named - {*members(reports)} == set()


def test_the_results_of_test(result: PlanResult) -> None:
    (failed,) = results(result, case({"status": 400}))
    named = named_in(r"In JSON each of `tests` has(.+?)Exit status")
    assert named - {*members(json.loads(formats.as_json([failed])))} == set()
