"""How a session ends: the close codes for the two sides, and the outcome in the record."""

import pytest
from websockets.frames import Close

from engine.exchange.outcome import Outcome
from engine.relay.websocket import close_frames
from engine.relay.websocket.frames import Violation

TOO_LARGE = Violation(1009, "the message has over 100 bytes")
NOT_UTF8 = Violation(1007, "a text is not UTF-8")
CASES = {
    "same": (close_frames.close_both(4000, "bye"), 4000, 4000, Outcome.COMPLETE),
    "token revoked": (close_frames.token_revoked(), 1008, 1001, Outcome.REVOKED),
    "restart": (close_frames.restart(), 1012, 1012, Outcome.SHUTDOWN),
    "a close with a code": (
        close_frames.close_received(Close(1001, "")),
        1001,
        1001,
        Outcome.COMPLETE,
    ),
    "a close without a code": (close_frames.close_received(None), 1006, 1006, Outcome.COMPLETE),
    "caller disconnected": (close_frames.caller_disconnected(), 1006, 1006, Outcome.CALLER_LEFT),
    "upstream disconnected": (
        close_frames.upstream_disconnected(),
        1006,
        1006,
        Outcome.UPSTREAM_CUT,
    ),
    "caller sends no UTF-8": (
        close_frames.caller_violation(NOT_UTF8),
        1007,
        1011,
        Outcome.COMPLETE,
    ),
    "caller sends too much": (
        close_frames.caller_violation(TOO_LARGE),
        1009,
        1009,
        Outcome.COMPLETE,
    ),
    "upstream sends no UTF-8": (
        close_frames.upstream_violation(NOT_UTF8),
        1011,
        1007,
        Outcome.UPSTREAM_CUT,
    ),
    "upstream sends too much": (
        close_frames.upstream_violation(TOO_LARGE),
        1009,
        1009,
        Outcome.UPSTREAM_CUT,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_close_codes_and_outcome(name):
    end, caller, upstream, outcome = CASES[name]
    assert (end.caller.code, end.upstream.code, end.outcome) == (caller, upstream, outcome)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (close_frames.upstream_disconnected(), "left in the middle"),
        (close_frames.upstream_violation(NOT_UTF8), "a text is not UTF-8"),
    ],
)
def test_the_error_event_names_the_failure_of_the_upstream(end, words):
    assert words in end.error.message
    assert (end.error.status, end.error.code) == (502, "upstream_error")


def test_a_revoked_token_is_an_error_of_the_caller():
    end = close_frames.token_revoked()
    assert (end.error.status, end.error.code) == (401, "invalid_api_key")


@pytest.mark.parametrize("end", [close_frames.restart(), close_frames.caller_violation(NOT_UTF8)])
def test_other_endings_have_no_failure_of_the_upstream(end):
    assert end.error is None


def test_a_violation_is_reported_to_the_side_that_broke_the_protocol():
    end = close_frames.caller_violation(NOT_UTF8)
    assert end.caller.reason == NOT_UTF8.reason
    assert "caller" in end.upstream.reason
