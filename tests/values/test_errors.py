"""Errors of a request, and what closes a connection."""

import errno

import pytest

from engine.values.errors import (
    AbortConnection,
    AbortReason,
    GatewayError,
    invalid_value,
    shutting_down,
    without_frames,
)


@pytest.mark.parametrize(
    ("retry", "headers"),
    [
        (None, []),
        (True, [("x-should-retry", "true")]),
        (False, [("x-should-retry", "false")]),
    ],
)
def test_whether_clients_may_retry_is_a_header(retry, headers):
    assert GatewayError(429, "code", "words", retry=retry).headers == headers


def test_the_headers_of_an_error_are_its_own():
    shared = [("retry-after", "1")]
    GatewayError(429, "code", "words", headers=shared, retry=False)
    assert shared == [("retry-after", "1")]


def test_an_abort_makes_gunicorn_close_the_socket_without_a_traceback():
    error = AbortConnection(AbortReason.CALLER_LEFT)
    assert isinstance(error, OSError)
    assert error.errno == errno.ECONNRESET
    assert error.reason is AbortReason.CALLER_LEFT


def test_the_detail_of_an_abort_replaces_the_words_of_its_reason():
    assert "the caller left" in str(AbortConnection(AbortReason.CALLER_LEFT))
    error = AbortConnection(AbortReason.CALLER_LEFT, "before the upgrade")
    assert "before the upgrade" in str(error)
    assert "the caller left" not in str(error)


def test_a_shutdown_tells_the_caller_to_send_the_request_again():
    error = shutting_down()
    assert (error.status, error.code) == (503, "shutting_down")
    assert ("retry-after", "1") in error.headers


def test_an_error_that_was_handled_holds_no_frames():
    try:
        try:
            raise ValueError
        except ValueError as cause:
            raise GatewayError(400, "invalid_value", "no") from cause
    except GatewayError as raised:
        error = without_frames(raised)
    assert (error.__traceback__, error.__cause__, error.__context__) == (None, None, None)


def test_an_invalid_value_names_its_place():
    error = invalid_value("session.model", "a text")
    assert (error.status, error.code, error.param) == (400, "invalid_value", "session.model")
    assert error.message == "Invalid value for 'session.model': expected a text."
