"""Bounds of durations; what they are for each key is in `tests/cases/configs/bounds-*.yaml`."""

from __future__ import annotations

from engine.config import duration_bounds, keys
from engine.source.problem import Findings
from engine.source.reader import read
from engine.values import units


def test_the_bounds_of_a_key_allow_its_default() -> None:
    bounded = [key for key in keys.root().all() if "bounds" in key.notes]
    assert len(bounded) > 10
    for key in bounded:
        least, most = key.notes["bounds"]
        default, example = key.schema["default"], key.schema.get("examples", [least])[0]
        for text in (default, example):
            if text != "p95":
                seconds = units.seconds(text)
                assert units.seconds(least) <= seconds <= units.seconds(most or "36500d"), key.name


def test_an_invalid_duration_is_left_to_the_schema() -> None:
    findings = Findings()
    document = read("upstreams: {u: {health: {every: [], timeout: 5}, pool: 3}, v: null}", "f")
    assert duration_bounds.check(document.value, document, findings) == []
    assert findings.unsorted == []
