"""Texts for which a pattern may take long are judged in a child process."""

from __future__ import annotations

import time
from typing import Any

import gevent
import pytest

from engine.process.child_process import ChildFailed
from engine.spec.bodies.body_parsers import parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.stages import check_in_child
from engine.stages.check_in_child import may_take_long
from engine.stages.validate import Checks
from engine.values.errors import GatewayError
from tests.support import documents
from tests.support.checking import checked
from tests.support.each import each
from tests.support.item_requests import exchange

SLOW = {"type": "object", "additionalProperties": {"type": "string", "pattern": "(?<!x)a+b"}}
SHORT = b'{"m": "aaab"}'


def check(body: bytes, validator: SchemaValidator) -> None:
    rule = BodyRule(parse_json, validator)
    checks = Checks((), Bodies(rules={"application/json": rule}), "strict", "pass")
    checked(checks, exchange(body))


def refusal(body: bytes, validator: SchemaValidator) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        check(body, validator)
    return raised.value


@pytest.fixture
def slow() -> SchemaValidator:
    return documents.validator(SLOW)


@each(
    ("value", "is_long"),
    [
        ({"m": "a" * 2_000}, True),
        ({"a" * 2_000: ""}, True),
        ([["a" * 1_000] * 3], True),
        (["a" * 1_000], False),
        (["a" * 10] * 1_000, False),
        ([1, None, {"m": True}], False),
    ],
)
def test_the_squares_of_the_lengths_of_texts_count(value: Any, is_long: bool) -> None:
    assert may_take_long(documents.validator(SLOW), value) is is_long
    assert not may_take_long(documents.validator({"pattern": "^a+b"}), value)


def test_a_check_that_takes_too_long_is_ended_while_others_go_on(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_in_child, "SECONDS", 0.3)
    turns = 0

    def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            gevent.sleep(0.01)

    counting = gevent.spawn(count)
    begin = time.thread_time()
    error = refusal(b'{"m": "%b"}' % (b"a" * 120_000), slow)
    counting.kill()
    assert (error.status, error.code) == (400, "validation_too_expensive")
    assert time.thread_time() - begin < 5  # it would be half a minute
    assert turns > 3
    check(SHORT, slow)


def test_bodies_of_some_kilobytes_hold_nobody_either(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr("engine.stages.validate.check_apart", lambda *_: calls.append("apart"))
    check(b'{"m": "%b"}' % (b"a" * 2_000), slow)
    check(SHORT, slow)
    assert calls == ["apart"]


def test_others_are_judged_as_everywhere(slow: SchemaValidator) -> None:
    fill = b"b" * 10_000
    check(b'{"m": "aab%b"}' % fill, slow)
    error = refusal(b'{"m": "aab%b", "n": "c"}' % fill, slow)
    assert (error.status, error.param) == (400, "n")


def test_a_child_that_fails_is_not_the_fault_of_the_caller(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ChildFailed("was killed by SIGKILL")

    monkeypatch.setattr(check_in_child, "compute_in_child", fail)
    assert refusal(b'{"m": "aab%b"}' % (b"b" * 10_000), slow).status == 503


def test_a_body_waits_for_the_checks_of_others_for_a_time(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_in_child, "SECONDS", 1.0)
    monkeypatch.setattr(check_in_child, "WAIT_SECONDS", 0.2)
    body = b'{"m": "%b"}' % (b"a" * 120_000)
    first = gevent.spawn(refusal, body, slow)
    gevent.sleep(0.05)
    second = refusal(body, slow)
    assert (second.status, second.code) == (503, "too_many_large_requests")
    assert first.get().code == "validation_too_expensive"
