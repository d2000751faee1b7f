"""The figures as tables."""

from __future__ import annotations

import pytest

from benchmarks.compare.figures import Figure, Ratio
from benchmarks.compare.table import ratios, table, text_of, times
from tests.support import paths

RESULTS = {
    "modelway": [{"cpu_plain_16": 0.0003, "per_core": 3333.3, "event_paced": 25e-6}],
    "nginx": [{"cpu_plain_16": 0.0000171, "per_core": 58_480.0, "event_paced": 15e-6}],
    "LiteLLM": [{"cpu_plain_16": 0.0107, "per_core": 93.5}],
}


def case(name: str) -> str:
    return (paths.CASES / "benchmarks" / name).read_text()


def test_the_tables_are_as_the_cases_say():
    assert table(RESULTS) + "\n" == case("table.md")
    assert ratios(RESULTS, "modelway") + "\n" == case("ratios.md")


@pytest.mark.parametrize(
    ("spread", "says"),
    [
        (None, "–"),
        (Ratio(36.06, 34.94, 137.2, rounds=3), "36.1 (34.9 to 137)"),
        (Ratio(0.064, 0.06, 0.071, rounds=3), "0.06 (0.06 to 0.07)"),
    ],
)
def test_a_ratio_shows_its_spread(spread, says):
    assert times(spread) == says


def test_a_figure_is_shown_in_its_unit():
    assert text_of(Figure("x", "CPU", "us", 1e6, 1), 0.0012345) == "1,234.5"
    assert text_of(Figure("x", "CPU", "us"), None) == "–"
