"""What wrk prints."""

from __future__ import annotations

import pytest

from benchmarks.compare.load import Load, LoadFailed, is_known, parse
from tests.support import paths

CASES = paths.CASES / "benchmarks"


def case(name: str) -> str:
    return (CASES / name).read_text()


def test_output_of_wrk_is_parsed():
    load = parse(case("wrk.txt"))
    assert load == Load(9168, 5.01, {"p50": 0.00865, "p99": 0.01231, "p99.9": 0.02011})
    assert round(load.rate) == 1830


def test_a_percentile_above_which_are_few_requests_is_not_known():
    few = parse(case("wrk.txt").replace("requests=9168", "requests=4000"))
    assert set(few.latency) == {"p50", "p99"}
    assert (is_known("p99.9", 4999), is_known("p99.9", 5000)) == (False, True)
    assert (is_known("p99", 499), is_known("p99", 500)) == (False, True)


def test_a_load_that_was_refused_is_no_measurement():
    with pytest.raises(LoadFailed, match="of 9168 requests 12 refused, 1 broken or late"):
        parse(case("wrk-refused.txt"))
    with pytest.raises(ValueError, match="not what wrk prints"):
        parse("wrk: cannot open script")
