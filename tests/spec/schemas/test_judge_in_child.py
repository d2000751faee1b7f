"""Values with texts for which a pattern may take long are judged in a child process."""

from __future__ import annotations

import time
from typing import Any

import gevent
import pytest

from engine.process.child_process import ChildFailed
from engine.spec.bodies.body_parsers import parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule
from engine.spec.request_conditions import compile_condition
from engine.spec.schemas import judge_in_child
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.stages.validate import Checks
from engine.values.errors import GatewayError
from tests.support import documents
from tests.support.checking import checked
from tests.support.each import each
from tests.support.item_requests import exchange

SLOW = {"type": "object", "additionalProperties": {"type": "string", "pattern": "(?<!x)a+b"}}
SHORT = b'{"m": "aaab"}'
SOME_WAYS = "^(?!.*(..).*\\1x)a"
"""A pattern that matches the text, in more ways than the engine tries by itself."""
TEXT = "ab" * 750


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
    validator: SchemaValidator = documents.validator(SLOW)
    return validator


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The bounds of time of the children that were made."""
    seconds: list[float] = []
    compute = judge_in_child.compute_in_child

    def note(function: Any, limit: float) -> Any:
        seconds.append(limit)
        return compute(function, limit)

    monkeypatch.setattr(judge_in_child, "compute_in_child", note)
    return seconds


def test_a_check_that_takes_too_long_is_ended_while_others_go_on(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_in_child, "SECONDS", 0.3)
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


def test_a_value_is_judged_here_unless_it_may_take_long(
    slow: SchemaValidator, children: list[float]
) -> None:
    check(SHORT, slow)
    assert not children
    refusal(b'{"m": "%b"}' % (b"a" * 5_000), slow)
    assert len(children) == 1
    refusal(b'{"m": "%b"}' % (b"a" * 2_000), slow)  # a small body, and why it is refused
    assert len(children) == 3


def test_others_are_judged_as_everywhere(slow: SchemaValidator) -> None:
    fill = b"b" * 10_000
    check(b'{"m": "aab%b"}' % fill, slow)
    error = refusal(b'{"m": "aab%b", "n": "c"}' % fill, slow)
    assert (error.status, error.param) == (400, "n")


def test_a_child_tries_all_ways_of_a_text(children: list[float]) -> None:
    validator: SchemaValidator = documents.validator({"type": "string", "pattern": SOME_WAYS})
    assert validator.is_valid(TEXT)
    assert not validator.is_valid_here(TEXT)  # the engine gives up
    assert not validator.is_valid(f"b{TEXT}")
    assert explain(validator, f"b{TEXT}", "q").param == "q"
    assert len(children) == 3


@each("required", [True, False])
def test_a_condition_is_judged_as_schemas_are(required: bool, children: list[float]) -> None:
    children.clear()
    condition = compile_condition("header", "X-Text", {"pattern": SOME_WAYS}, required=required)
    request = exchange(b"")
    request.environ["HTTP_X_TEXT"] = "abc"
    assert condition.holds(request)
    assert not children
    request.environ["HTTP_X_TEXT"] = TEXT
    assert condition.holds(request)
    assert len(children) == 1
    request.environ["HTTP_X_TEXT"] = f"b{TEXT}"
    assert not condition.holds(request)
    assert condition.refusal(request).param == "x-text"


def test_a_child_that_fails_is_not_the_fault_of_the_caller(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ChildFailed("was killed by SIGKILL")

    monkeypatch.setattr(judge_in_child, "compute_in_child", fail)
    assert refusal(b'{"m": "aab%b"}' % (b"b" * 10_000), slow).status == 503


def test_a_refusal_of_the_child_is_one_of_the_caller(
    slow: SchemaValidator, children: list[float]
) -> None:
    def refuse() -> bool:
        raise GatewayError(400, "invalid_value", "No.", param="a.b")

    with pytest.raises(GatewayError) as raised:
        slow.judge_in_child(refuse)
    error = raised.value
    assert (error.status, error.code, error.message) == (400, "invalid_value", "No.")
    assert error.param == "a.b"
    assert children == [judge_in_child.SECONDS]


def test_a_body_waits_for_the_checks_of_others_for_a_time(
    slow: SchemaValidator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_in_child, "SECONDS", 1.0)
    monkeypatch.setattr(judge_in_child, "WAIT_SECONDS", 0.2)
    body = b'{"m": "%b"}' % (b"a" * 120_000)
    first = gevent.spawn(refusal, body, slow)
    gevent.sleep(0.05)
    second = refusal(body, slow)
    assert (second.status, second.code) == (503, "too_many_large_requests")
    assert first.get().code == "validation_too_expensive"
