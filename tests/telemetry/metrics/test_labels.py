"""Labels are names of the config, whatever a caller sends."""

from __future__ import annotations

from engine import dialects
from engine.telemetry.metrics.labels import labels_of
from tests.support.exchanges import new_exchange


def test_labels_are_the_entries_of_the_config_not_the_callers_words():
    exchange = new_exchange("POST", "/", "", {}, "req_1", operation="openai.createChatCompletion")
    exchange.dialect = dialects.get("openai")
    exchange.model = "whatever-a-caller-says"
    record = exchange.record
    record.requested_entry, record.served_entry, record.upstream = "gpt-*", "gpt-4o", "azure"
    labels = labels_of(exchange, "USD")
    assert (labels.model, labels.served_model, labels.upstream) == ("gpt-*", "gpt-4o", "azure")
    assert labels.gen_ai[2] == "gpt-*"
    assert not any("whatever" in str(label) for label in labels)


def test_a_request_without_a_model_has_no_provider():
    labels = labels_of(new_exchange("GET", "/", "", {}, "req_1"), "USD")
    assert (labels.model, labels.served_model, labels.upstream) == ("", "", "")
    assert labels.gen_ai[1:] == ("", "")
