"""The texts of a request are replaced, and nothing else of it changes."""

import json
import signal

import gevent
import pytest

from engine.exchange.exchange import MISSING
from engine.exchange.request_body import Body
from engine.guardrails import request
from engine.guardrails.guard import Guard
from engine.guardrails.request import judge_request
from engine.guardrails.settings import GuardSettings
from engine.process.preemption import Preemption
from engine.values import json_document
from engine.values.errors import GatewayError
from engine.values.json_edit import edits
from tests.support.exchanges import new_exchange
from tests.support.growth import MAX_GROWTH, growth
from tests.support.guard_calls import PlayedGuards
from tests.support.preempting import interrupting

REDACT = {"action": "redact", "texts": [{"pointer": "/messages/0/content", "text": "[n\u00e4me]"}]}


def guard(answer, **options):
    settings = GuardSettings.read({"webhook": "w", "mode": "redact", **options})
    return Guard(settings, PlayedGuards([answer]))


def exchange_of(body, media_type="application/json", value=MISSING):
    parsed = json.loads(body) if value is MISSING and media_type == "application/json" else value
    return new_exchange(body=Body(body), value=parsed, media_type=media_type)


@pytest.mark.parametrize(
    "pattern", [b'{"messages": [%s], "model": "gpt"}', b'{"model": "gpt", "messages": [%s]}']
)
def test_a_text_is_replaced_and_the_place_of_the_model_moves_with_it(pattern):
    body = pattern % b'{"role": "user", "content": "I am Ada Lovelace"}'
    exchange = exchange_of(body)
    start = body.index(b'"gpt"')
    exchange.model.span = (start, start + 5)
    exchange.model.copies = [(start, start + 5, "")]
    judge_request(guard(REDACT), exchange)
    text = bytes(exchange.body.buffer)
    assert text == body.replace(b"I am Ada Lovelace", "[n\u00e4me]".encode())
    assert exchange.content.value == json.loads(text)
    begin, end = exchange.model.span
    assert text[begin:end] == b'"gpt"'
    assert exchange.model.copies == [(begin, end, "")]


def test_a_form_cannot_be_changed_and_counts_as_not_judged():
    value = {"prompt": "Ada"}
    verdict = {"action": "redact", "texts": [{"pointer": "/prompt", "text": "X"}]}
    exchange = exchange_of(b"prompt=Ada", "application/x-www-form-urlencoded", value)
    with pytest.raises(GatewayError) as excinfo:
        judge_request(guard(verdict), exchange)
    assert excinfo.value.code == "guard_unavailable"


def test_a_body_that_was_not_read_is_refused_unless_the_guard_only_reports():
    exchange = new_exchange(body=Body(b"secret"), value=MISSING, media_type="text/plain")
    with pytest.raises(GatewayError) as excinfo:
        judge_request(guard({"action": "pass"}), exchange)
    assert (excinfo.value.status, excinfo.value.code) == (400, "unreadable_body")
    judge_request(guard({"action": "pass"}, mode="report"), exchange)


def test_a_body_that_is_a_text_is_replaced():
    exchange = exchange_of(b' "Ada" ')
    judge_request(guard({"action": "redact", "texts": [{"pointer": "", "text": "new"}]}), exchange)
    assert (bytes(exchange.body.buffer), exchange.content.value) == (b' "new" ', "new")


def test_the_body_is_written_once_for_all_texts(monkeypatch):
    count = 0

    def counting(*arguments):
        nonlocal count
        count += 1
        return edits(*arguments)

    monkeypatch.setattr(request, "edits", counting)
    monkeypatch.setattr(json_document, "edits", counting)
    exchange = exchange_of(json.dumps({"messages": [{"content": "a"}] * 50}).encode())
    texts = [{"pointer": f"/messages/{i}/content", "text": "b"} for i in range(50)]
    judge_request(guard({"action": "redact", "texts": texts}), exchange)
    assert exchange.content.value == json.loads(bytes(exchange.body.buffer))
    assert exchange.content.value["messages"] == [{"content": "b"}] * 50
    assert count == 1


def test_many_texts_are_replaced_at_the_cost_of_each():
    def prepare(size):
        texts = [{"pointer": f"/input/{at}", "text": "b"} for at in range(size)]
        exchange = exchange_of(json.dumps({"input": ["a"] * size}).encode())
        judge = guard({"action": "redact", "texts": texts})
        return lambda: judge_request(judge, exchange)

    assert growth(prepare) < MAX_GROWTH


def test_a_name_that_is_given_twice_is_refused_since_it_could_be_read_in_two_ways():
    exchange = exchange_of(b'{"messages": [{"content": "Ada"}], "messages": []}')
    with pytest.raises(GatewayError) as excinfo:
        judge_request(guard({"action": "pass"}), exchange)
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")


def test_no_timer_interrupts_a_request_whose_guard_is_called(monkeypatch):
    preemption, timers = Preemption(), []
    monkeypatch.setattr("engine.guardrails.request.PREEMPTION", preemption)
    body = b'{"messages":[{"content":"x"}]}'
    exchange = exchange_of(body, value=json.loads(body))
    webhook = guard({"action": "pass"})

    def judge(*args):
        timers.append(signal.getitimer(signal.ITIMER_PROF))
        return {}

    monkeypatch.setattr(webhook, "judge", judge)

    def compute():
        preemption.begin()
        judge_request(webhook, exchange)

    with interrupting(preemption):
        gevent.spawn(compute).get()
    assert timers == [(0.0, 0.0)]
