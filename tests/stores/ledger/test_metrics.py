"""The ledger's lag is collected."""

from __future__ import annotations

from types import SimpleNamespace

from engine.stores.ledger import metrics


def test_the_ledger_reports_how_far_the_database_is_behind():
    lag = SimpleNamespace(rows=7, seconds=1.5)
    shipper = SimpleNamespace(lag=lambda: lag, refusals=1, shipped=9)
    samples = list(metrics.ledger_collector(SimpleNamespace(lost_rows=2), shipper)())
    assert samples == [
        (metrics.LEDGER_ROWS, (), 7),
        (metrics.LEDGER_AGE, (), 1.5),
        (metrics.LEDGER_LOST, (), 2),
        (metrics.LEDGER_REFUSED, (), 1),
        (metrics.LEDGER_SHIPPED, (), 9),
    ]
