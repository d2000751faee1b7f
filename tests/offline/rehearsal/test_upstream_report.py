"""What is reported of an upstream that an explained request goes to."""

from __future__ import annotations

from engine.offline.rehearsal.upstream_report import upstream_report
from tests.support.configs import read_config


def upstream(text: str = ""):
    return read_config(f"upstreams: {{main: {{url: 'https://a.test'{text}}}}}\n").upstreams["main"]


def test_an_upstream_without_a_bound_has_none_and_no_queue():
    report = upstream_report(upstream())
    assert (report["max_in_flight"], report["queue"], report["addresses"]) == (None, None, None)


def test_the_bound_and_the_queue_are_reported_with_defaults():
    report = upstream_report(upstream(", max_in_flight: 8, queue: {size: 5}"))
    assert (report["max_in_flight"], report["queue"]) == (8, {"size": 5, "wait": 10.0})
