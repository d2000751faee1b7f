"""Errors of the OpenAI dialect: their types, and the status of an error event."""

import pytest

from engine import dialects
from engine.values.errors import GatewayError
from tests.support.dialects import error_of

OPENAI = dialects.get("openai")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "invalid_request_error"),
        (403, "permission_error"),
        (404, "invalid_request_error"),
        (413, "invalid_request_error"),
        (429, "requests"),
        (500, "server_error"),
        (502, "server_error"),
        (504, "server_error"),
    ],
)
def test_openai_types_follow_the_status(status, kind):
    assert error_of("openai", status)["error"]["type"] == kind
    assert error_of("plain", status)["error"]["type"] == kind


def test_a_quota_that_is_spent_is_no_rate_of_requests():
    spent = GatewayError(429, "insufficient_quota", "You exceeded your current quota.")
    assert OPENAI.error(spent, "req_1")["error"]["type"] == "insufficient_quota"


@pytest.mark.parametrize(
    ("document", "status"),
    [
        ({"error": {"code": 429}}, 429),
        ({"error": {"code": "503"}}, 503),
        ({"error": {"status_code": 408}}, 408),
        ({"error": {}, "status": 500}, 500),
        ({"error": {"code": "model_not_found", "type": "invalid_request_error"}}, 404),
        ({"error": {"code": "new_code", "type": "overloaded_error"}}, 503),
        ({"type": "error", "code": "rate_limit_exceeded"}, 429),
        ({"type": "response.failed", "response": {"error": {"code": "server_error"}}}, 500),
        ({"error": {"code": "new_code", "type": "new_type"}}, None),
        ({"error": "text"}, None),
        ({"choices": [{"finish_reason": "rate_limit"}]}, 429),
        ({"choices": [{"finish_reason": "server_error"}]}, 500),
        ({"choices": [{"finish_reason": "failed"}]}, None),
        ([], None),
    ],
)
def test_the_status_of_an_error_event(document, status):
    error = OPENAI.stream_error(document)
    assert (error and error.status) == status


def test_an_error_event_as_a_response_has_all_members():
    error = OPENAI.stream_error({"error": {"code": "server_error"}})
    assert error.document["error"] == {
        "message": "The request failed.",
        "type": "server_error",
        "param": None,
        "code": "server_error",
    }
