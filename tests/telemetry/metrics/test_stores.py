"""The ledger's lag and the token lookups are collected."""

from __future__ import annotations

from types import SimpleNamespace

from engine.telemetry.metrics import stores


def test_the_ledger_reports_how_far_the_database_is_behind():
    lag = SimpleNamespace(rows=7, seconds=1.5)
    shipper = SimpleNamespace(lag=lambda: lag, refusals=1, shipped=9)
    samples = list(stores.ledger_collector(SimpleNamespace(lost_rows=2), shipper)())
    assert samples == [
        (stores.LEDGER_ROWS, (), 7),
        (stores.LEDGER_AGE, (), 1.5),
        (stores.LEDGER_LOST, (), 2),
        (stores.LEDGER_REFUSED, (), 1),
        (stores.LEDGER_SHIPPED, (), 9),
    ]


def test_lookups_are_collected_by_result():
    cache = SimpleNamespace(lookups=5, failed=1, stale=2, unknown=3, away=True)
    samples = {
        (metric, *labels): value for metric, labels, value in stores.lookup_collector(cache)()
    }
    assert samples == {
        (stores.LOOKUPS, "asked"): 5,
        (stores.LOOKUPS, "failed"): 1,
        (stores.LOOKUPS, "unknown"): 3,
        (stores.LOOKUPS, "stale"): 2,
        (stores.RECORDS_AWAY,): 1.0,
    }
