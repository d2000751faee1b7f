"""The record at the end of an exchange."""

import pytest

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import RequestRecord


def record(**values):
    new = RequestRecord()
    new.start = 100.0
    for name, value in values.items():
        setattr(new, name, value)
    return new


def test_an_exchange_without_an_end_is_caller_left():
    cancelled_record = record()
    cancelled_record.close(101.5)
    assert (cancelled_record.outcome, cancelled_record.duration) == (Outcome.CALLER_LEFT, 1.5)


def test_an_error_that_was_relayed_completely_is_no_success():
    relayed = record(status=503, outcome=Outcome.COMPLETE)
    relayed.close(101.0)
    assert relayed.outcome is Outcome.FAILED


def test_a_result_is_kept():
    refusal_record = record()
    refusal_record.end(429, Outcome.REFUSED, "rate_limit_exceeded")
    refusal_record.close(101.0)
    assert (refusal_record.status, refusal_record.outcome) == (429, Outcome.REFUSED)
    assert refusal_record.code == "rate_limit_exceeded"


def test_before_the_first_content_only_the_wait_is_not_the_gateways():
    quick = record(status=200, outcome=Outcome.COMPLETE, wait_time=0.5)
    quick.close(100.75)
    assert quick.gateway_time == pytest.approx(0.25)


def test_from_the_first_content_on_nothing_is_the_gateways():
    stream = record(status=200, outcome=Outcome.COMPLETE, wait_time=0.5, first_byte=0.75)
    stream.close(160.0)
    assert stream.gateway_time == pytest.approx(0.25)


def test_time_after_the_end_of_the_response_counts_as_gateway_time():
    stream = record(
        status=200, outcome=Outcome.COMPLETE, wait_time=0.5, first_byte=0.5, response_end=110.0
    )
    stream.close(110.5)
    assert stream.gateway_time == pytest.approx(0.5)


def test_the_gateways_time_is_never_negative():
    late = record(wait_time=5.0)
    late.close(101.0)
    assert late.gateway_time == 0.0


def test_records_do_not_share_their_attempts():
    assert RequestRecord().attempts is not RequestRecord().attempts
