"""A warning becomes a line of the log and a message for each webhook."""

from __future__ import annotations

import json
import logging

import pytest

from engine.app.services.limit_warnings import WarningReport, event_id
from engine.stores.webhooks import outbox as outbox_module
from engine.stores.webhooks.outbox import Outbox
from engine.values.calendar import Calendar
from engine.values.counters import Limit, LimitWarning
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import shared_by

NOW = 1_800_000_000.0
MONTH = Calendar("month")


def warning(percent=80, window=MONTH, reset=86_400.0, key="team/spend/month|search"):
    rule = QuotaRule(Quota("spend", 10**9, window, (80,)), shared_by("team"), "team/spend/month")
    return LimitWarning(rule, "search", Limit(key, 10**9, window), percent, 8 * 10**8, reset)


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "webhooks")


def test_the_first_is_logged_and_sent_to_each_webhook(outbox, caplog):
    report = WarningReport("USD", outbox, ["a", "b"], lambda: NOW)
    report.prepare(warning())(True)
    assert "limit warning: 80% of 1 USD per month of team 'search'" in caplog.text
    for webhook in ("a", "b"):
        (message,) = outbox.messages(webhook)
        assert json.loads(message.body)["data"]["percent"] == 80
        assert message.id == event_id(warning(), NOW)


def test_the_second_leaves_no_trace(outbox, caplog):
    WarningReport("USD", outbox, ["a"], lambda: NOW).prepare(warning())(False)
    assert (outbox.count(), caplog.text) == (0, "")


def test_without_webhooks_it_is_logged(caplog):
    WarningReport("USD", None, [], lambda: NOW).prepare(warning())(True)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_full_outbox_loses_the_event_and_says_so(outbox, caplog, monkeypatch):
    monkeypatch.setattr(outbox_module, "MAX_MESSAGES", 0)
    WarningReport("USD", outbox, ["a"], lambda: NOW).prepare(warning())(True)
    assert "an event for webhook 'a' is lost: too many wait for it" in caplog.text
    assert "limit warning: 80%" in caplog.text


def test_an_id_is_that_of_the_threshold_and_the_window():
    same = event_id(warning(), NOW)
    assert event_id(warning(reset=86_390.0), NOW + 12) == same
    assert event_id(warning(percent=50), NOW) != same
    assert event_id(warning(key="team/spend/month|ads"), NOW) != same
    assert event_id(warning(), NOW + 31 * 86_400) != same
    assert event_id(warning(window=60.0), NOW) != event_id(warning(window=60.0), NOW + 60)
