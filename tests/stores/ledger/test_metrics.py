"""The ledger's lag is collected."""

from __future__ import annotations

from types import SimpleNamespace

from engine.stores.ledger import metrics

LAG = SimpleNamespace(rows=7, seconds=1.5)
JOURNAL = SimpleNamespace(lag=lambda: LAG, lost_rows=2)
SHIPPER = SimpleNamespace(lag=lambda: SimpleNamespace(rows=3, seconds=9.0), refusals=1, shipped=9)


def test_a_worker_reports_what_waits_in_its_journal():
    assert list(metrics.ledger_collector(journal=JOURNAL)()) == [
        (metrics.LEDGER_ROWS, (), 7),
        (metrics.LEDGER_AGE, (), 1.5),
        (metrics.LEDGER_LOST, (), 2),
    ]


def test_who_ships_reports_what_it_has_not_shipped():
    assert list(metrics.ledger_collector(shipper=SHIPPER)()) == [
        (metrics.LEDGER_ROWS, (), 3),
        (metrics.LEDGER_AGE, (), 9.0),
        (metrics.LEDGER_REFUSED, (), 1),
        (metrics.LEDGER_SHIPPED, (), 9),
    ]


def test_a_process_that_does_both_reports_the_sum():
    samples = list(metrics.ledger_collector(JOURNAL, SHIPPER)())
    assert samples[:2] == [(metrics.LEDGER_ROWS, (), 10), (metrics.LEDGER_AGE, (), 9.0)]
