"""Exchanges whose metrics are recorded, and the samples on the page."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import Attempt
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange


def finished_exchange(status=200, outcome=Outcome.COMPLETE, **changes):
    record = {
        "requested_entry": "gpt-*",
        "served_entry": "gpt-*",
        "upstream": "one",
        "reached_upstream": True,
        "usage": Usage(10, 5, 3),
        "cost": 2_000_000_000,
        "first_byte": 0.2,
        "duration": 0.3,
        "wait_time": 0.299,
        "attempts": [Attempt("one", "one", "m", "", 200, 0.0, 0.2)],
        "status": status,
        "outcome": outcome,
    }
    return new_exchange(
        operation="openai.createChatCompletion",
        model="whatever a caller says",
        record=record | changes,
    )


def record_all(recorder, *exchanges):
    """End exchanges, and record them as one batch."""
    for exchange in exchanges:
        recorder(exchange)
    recorder.record(exchanges)


def values(recorder, name):
    """The samples of a metric on the page, by the values of their labels."""
    samples = {}
    for family in text_string_to_metric_families(recorder.page().decode()):
        for sample in family.samples:
            if sample.name == name:
                samples[tuple(sample.labels[key] for key in sorted(sample.labels))] = sample.value
    return samples
