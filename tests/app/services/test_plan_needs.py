"""What is opened because a plan needs it."""

from __future__ import annotations

import pytest

from engine.app.services.plan_needs import is_metered
from engine.plan.plan import Plan

OFF = "telemetry: {access_log: {format: 'off'}, metrics: false}\n"
JWT = "callers: {jwt: [{issuer: 'https://a.example', audience: x%s}]}\n"


@pytest.mark.parametrize(
    ("more", "metered"),
    [
        ("", True),  # the access log and the metrics tell of it
        (OFF, False),
        (OFF + "policies: [{max_body: 1KB}]\n", False),
        (OFF + "policies: [{concurrency: {requests: 1}}]\n", True),
        (OFF + "stores: {records: 'sqlite:///records.db'}\n", True),
        (OFF + JWT % "", False),
        (OFF + JWT % ", rate: 60/1m", True),
        (OFF + JWT % ", claims: {budget: money}", True),
        ("telemetry: {access_log: {format: 'off'}}\n", True),
        ("telemetry: {metrics: false}\n", True),
    ],
)
def test_usage_is_read_if_a_log_metric_trace_or_limit_needs_it(config, more, metered):
    assert is_metered(Plan(config(more), ())) is metered
