"""What follows from the verdicts of a webhook."""

from __future__ import annotations

import json
from collections import Counter

import gevent
import pytest

from engine.exchange.stage_services import GuardFailed
from engine.guardrails.guard import MAX_PARTS, MAX_REPORTS, VERDICTS, Guard, verdict_collector
from engine.guardrails.settings import GuardSettings
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.guard_calls import PlayedGuards


def guard(answers=(), **options):
    webhooks = PlayedGuards(answers)
    return Guard(GuardSettings.read({"webhook": "w", **options}), webhooks), webhooks


def redaction(pointer, text, **more):
    return {"action": "redact", "texts": [{"pointer": pointer, "text": text, **more}]}


def test_texts_are_replaced_by_those_of_the_verdict():
    asks, webhooks = guard([redaction("/b", "X")], mode="redact")
    exchange = new_exchange()
    assert asks.judge(exchange, "request", {"/a": "A", "/b": "B"}) == {"/b": "X"}
    assert exchange.record.verdicts == ("request:redact",)
    assert webhooks.noted == [("w", "request", "redact")]


@pytest.mark.parametrize(
    ("mode", "answer", "status"),
    [
        ("block", {"action": "block"}, 403),
        ("block", redaction("/a", "X"), 403),
        ("redact", {"action": "block"}, 403),
        ("block", {"action": "pass"}, None),
    ],
)
def test_a_finding_blocks_as_the_mode_says(mode, answer, status):
    asks, _ = guard([answer], mode=mode)
    if status is None:
        assert asks.judge(new_exchange(), "request", {"/a": "A"}) == {}
        return
    with pytest.raises(GatewayError) as excinfo:
        asks.judge(new_exchange(), "request", {"/a": "A"})
    assert (excinfo.value.status, excinfo.value.code) == (status, "content_blocked")


@pytest.mark.parametrize("answer", [GuardFailed("it is away"), {"action": "maybe"}])
def test_a_failure_is_decided_by_on_failure(answer):
    asks, webhooks = guard([answer], on_failure="pass")
    assert asks.judge(new_exchange(), "response", {"/a": "A"}) == {}
    assert webhooks.noted == [("w", "response", "failed")]
    strict, _ = guard([answer])
    with pytest.raises(GatewayError) as excinfo:
        strict.judge(new_exchange(), "response", {"/a": "A"})
    assert (excinfo.value.status, excinfo.value.code) == (503, "guard_unavailable")


def test_long_texts_are_asked_in_parts_that_end_at_spaces_and_joined_again():
    text = "word " * 500
    answers = [{"action": "pass"}, redaction("/a", "[gone]", offset=1000), {"action": "pass"}]
    asks, webhooks = guard(answers, mode="redact", chunk=1000)
    new = asks.judge(new_exchange(), "request", {"/a": text})
    assert new == {"/a": text[:1000] + "[gone]" + text[2000:]}
    parts = [json.loads(body)["texts"][0] for body in webhooks.questions]
    assert "".join(part["text"] for part in parts) == text
    assert [part.get("offset", 0) for part in parts] == [0, 1000, 2000]


def test_short_texts_share_a_question():
    asks, webhooks = guard([{"action": "pass"}] * 2, chunk=1000)
    asks.judge(new_exchange(), "request", {f"/{n}": "x" * 300 for n in range(5)})
    counts = [len(json.loads(body)["texts"]) for body in webhooks.questions]
    assert counts == [3, 2]


def test_a_question_has_a_bounded_number_of_texts():
    asks, webhooks = guard([{"action": "pass"}] * 2)
    asks.judge(new_exchange(), "request", {f"/{n}": "" for n in range(MAX_PARTS + 1)})
    counts = [len(json.loads(body)["texts"]) for body in webhooks.questions]
    assert counts == [MAX_PARTS, 1]


def test_without_texts_nobody_is_asked():
    asks, webhooks = guard()
    assert asks.judge(new_exchange(), "request", {}) == {}
    assert webhooks.questions == []


def test_a_report_delays_nothing_and_is_bounded():
    asks, webhooks = guard([{"action": "block"}] * (MAX_REPORTS + 1), mode="report")
    exchange = new_exchange()
    for _ in range(MAX_REPORTS + 1):
        assert asks.judge(exchange, "request", {"/a": "A"}) == {}
    assert webhooks.questions == []
    assert webhooks.noted == [("w", "request", "dropped")]
    gevent.sleep(0)
    assert len(webhooks.questions) == MAX_REPORTS
    assert webhooks.noted.count(("w", "request", "block")) == MAX_REPORTS
    assert asks.judge(exchange, "request", {"/a": "A"}) == {}
    gevent.sleep(0)
    assert len(webhooks.questions) == MAX_REPORTS + 1


def test_each_verdict_is_a_sample():
    counts = Counter({("w", "request", "pass"): 3})
    collect = verdict_collector(counts)
    assert list(collect()) == [(VERDICTS, ("w", "request", "pass"), 3)]
    counts["w", "request", "pass"] += 1
    assert [count for _, _, count in collect()] == [4]
