"""What an attempt learned, and the target that the record of its request names."""

from __future__ import annotations

from dataclasses import replace

from engine.dialects import StreamError
from engine.exchange.request_record import RUNNING, RequestRecord
from engine.upstream.client.failures import Reset
from engine.upstream.responses.attempt_result import AttemptResult, set_target
from engine.values.usage import Usage
from tests.support.upstreams import Client, FakeResponse, failure, target


def result(response: FakeResponse | None = None) -> AttemptResult:
    return AttemptResult(target(Client()), response=response)


def test_the_status_is_the_upstreams_or_that_of_an_error_event() -> None:
    assert result().status == 0
    attempted = result(FakeResponse(200))
    assert attempted.status == 200
    attempted.stream_error = StreamError(529, {})
    assert attempted.status == 529


def test_an_upstream_is_reached_by_an_answer_or_by_a_request_that_was_sent() -> None:
    assert not result().reached
    assert result(FakeResponse(503)).reached
    for sent in (False, True):
        broken = result()
        broken.error = failure(Reset)
        broken.error.request_sent = sent
        assert broken.reached is sent


def test_an_answer_that_breaks_off_counts_against_its_target() -> None:
    attempted = result(FakeResponse(200))
    breaker = attempted.target.state.breaker
    for _ in range(20):
        attempted.broke_off(RequestRecord())
    assert not breaker.allows(0.0)
    attempted.close()
    assert attempted.response is not None
    assert attempted.response.closed == 1  # type: ignore[attr-defined]


def test_an_attempt_that_broke_off_is_no_success_in_the_record() -> None:
    record, attempted = RequestRecord(), result(FakeResponse(200))
    attempted.attempt = RUNNING._replace(target="east/m", start=5.0, seconds=0.1)
    first = RUNNING._replace(failure="429")
    record.attempts = [first, attempted.attempt]
    attempted.broke_off(record, "")  # the request was at fault
    assert record.attempts == [first, attempted.attempt]
    attempted.broke_off(record, "error")
    assert record.attempts[0] is first
    assert (record.attempts[1].target, record.attempts[1].failure) == ("east/m", "error")
    assert record.attempts[1].seconds > 0.1


def test_the_record_names_the_target_and_what_it_serves() -> None:
    record = RequestRecord()
    named = replace(target(Client(), name="east"), model="theirs", entry="gpt-*")
    set_target(record, named, "gpt-5")
    assert (record.upstream, record.upstream_model) == ("east", "theirs")
    assert (record.model, record.served_entry) == ("gpt-5", "gpt-*")
    assert record.usage == Usage()
