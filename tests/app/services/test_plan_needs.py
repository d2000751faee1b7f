"""What is opened because a plan needs it."""

from __future__ import annotations

import pytest

from engine.app.services.plan_needs import costly_operations, is_metered
from engine.plan.plan import Plan
from tests.support.rehearsing import CONFIG, DOCUMENT, planned

OFF = "telemetry: {access_log: {format: 'off'}, metrics: false}\n"
JWT = "callers: {jwt: [{issuer: 'https://a.example', audience: x%s}]}\n"
ROUTE = "operation: shop.chat\n"


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


@pytest.mark.parametrize(
    ("schema", "mode", "operations"),
    [
        ("{type: string}", "strict", frozenset()),
        ("{multipleOf: 0.5}", "strict", {"shop.chat"}),
        ("{multipleOf: 0.5}", "lenient", {"shop.chat"}),
        ("{multipleOf: 0.5}", "off", frozenset()),
    ],
)
@pytest.mark.parametrize("media_type", ["application/json", "application/*"])
def test_operations_with_bodies_that_may_take_long_to_validate(
    tmp_path, schema, mode, operations, media_type
):
    document = DOCUMENT.replace("model: {type: string}", f"model: {schema}")
    document = document.replace(
        "application/json: {schema: {$ref", f"{media_type}: {{schema: {{$ref"
    )
    config = CONFIG.replace(ROUTE, f"{ROUTE}    validate: '{mode}'\n")
    plan = planned(tmp_path, config, document).plan
    assert config != CONFIG
    assert costly_operations(plan) == operations
