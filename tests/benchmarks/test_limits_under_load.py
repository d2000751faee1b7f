"""Limits in Redis are exact while processes burn all CPU: a small run of the benchmark."""

from __future__ import annotations

import pytest

from benchmarks import limits_under_load
from tests.support import crowd, redis_server


@pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)
def test_every_run_lets_exactly_the_amount_of_its_limit_pass(monkeypatch, capsys):
    monkeypatch.setattr(crowd, "PATIENCE", crowd.PATIENCE)  # the benchmark raises it
    wrong = limits_under_load.main(runs=4, amount=40, burning=6)
    output = capsys.readouterr().out
    assert wrong == 0, output
    assert "requests that Redis did not decide: 0" in output
