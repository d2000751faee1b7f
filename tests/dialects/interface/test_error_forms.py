"""The forms in which servers report an error inside an answer."""

import pytest

from engine.dialects import get
from engine.dialects.interface.error_forms import (
    error_document,
    error_text,
    event_error,
    message_in,
    provider_text,
    reported_error,
    reports_error,
)


@pytest.mark.parametrize(
    ("document", "reports"),
    [
        ({"type": "error"}, True),
        ({"error": {"message": "x"}}, True),
        ({"error": "text"}, True),
        ({"error": None}, False),
        ({"error": {}}, False),
        ({"error": {"message": "", "type": "", "param": "", "code": None}}, False),
        ({"error": {"code": 0, "message": ""}, "choices": [{}]}, False),
        ({"error": {"code": 0, "message": "x"}}, True),
        ({"choices": [], "x_groq": {"id": "r", "error": "over_capacity"}}, True),
        ({"choices": [], "x_groq": {"id": "r", "error": None}}, False),
        ({"object": "error", "message": "x", "code": 500}, True),
        ({"code": 20012, "message": "x", "data": None}, True),
        ({"code": 500, "msg": "x", "success": False}, True),
        ({"code": 200, "message": "ok", "data": None}, False),
        ({"code": 7, "message": "x", "data": {"a": 1}}, False),
        ({"code": 7, "message": "x", "choices": [{}]}, False),
        ({"id": "1", "choices": None, "error": {"message": "x"}}, True),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, True),
        ({"choices": [{}], "base_resp": {"status_code": 0, "status_msg": "success"}}, False),
        ({"errors": [{"message": "x"}], "success": False}, False),
        ({"type": "message"}, False),
        (["error"], False),
        (None, False),
    ],
)
def test_a_document_reports_an_error(document, reports):
    assert reports_error(document) is reports


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"errors": [{"message": "x"}], "success": False}, {"message": "x"}),
        ({"error_code": 17, "error_msg": "x"}, {"message": "x"}),
        ({"status": 429, "message": "x"}, {"message": "x", "status": 429}),
        ({"status_code": "500", "detail": "x"}, {"message": "x", "status": 500}),
        ({"status": "error", "message": "x"}, {"message": "x"}),
        ({"success": False, "msg": "x"}, {"message": "x"}),
        ({"errors": [], "result": "x"}, None),
        ({"errors": ["x"], "choices": [{}]}, None),
        ({"errors": None, "error_msg": ""}, None),
        ({"status": 200, "message": "x"}, None),
        ({"status": "ok", "message": "x"}, None),
        ({"status": 500}, None),
        ({"status": 500, "type": "message", "message": "x"}, None),
        ({"status": "failed", "object": "response", "message": "x"}, None),
        ({"success": True, "msg": "x"}, None),
        ({"code": 500, "success": False, "message": "x"}, None),
        (["errors"], None),
    ],
)
def test_an_event_may_be_an_error_in_a_form_of_its_own(document, error):
    assert event_error(document) == (document if error is None else {"error": error})


def test_an_error_may_be_the_item_of_a_list():
    assert event_error([{"error": "x"}, 1]) == {"error": "x"}


@pytest.mark.parametrize("error", [{}, {"message": ""}, {"message": None}, {"message": 7}])
def test_an_error_without_a_message_has_a_general_one(error):
    assert message_in(error) == "The request failed."
    assert message_in(error | {"message": "No capacity."}) == "No capacity."


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ('{"type":"error","error":{"type":"x","message":"too long"}}', "too long"),
        ('{"error":"{\\"error\\":{\\"message\\":\\"too long\\"}}"}', "too long"),
        ('{"a":1}', '{"a":1}'),
        ('{"error":', '{"error":'),
        ("{" * 2000, "{" * 2000),
    ],
)
def test_a_message_may_be_the_json_of_another_error(message, text):
    error = {"message": message}
    assert message_in(error) == text
    assert error_text({"error": error}) == text[:500]


def test_what_a_provider_said_may_be_in_the_words_of_vercels_gateway():
    body = '{"error":{"message":"maximum context length is 40960 tokens"}}'
    error = {"message": "Stream error occurred", "value": {"error_message": body}}
    assert provider_text(error) == "maximum context length is 40960 tokens"


@pytest.mark.parametrize(
    ("kind", "status"), [("overloaded", 429), ("validation", 422), ("generation", 500), (7, None)]
)
def test_the_type_beside_a_text_says_the_status(kind, status):
    error = reported_error({"error": "It failed.", "error_type": kind})
    assert (error["message"], error.get("status")) == ("It failed.", status)


@pytest.mark.parametrize(
    ("body", "document"),
    [
        (b'{"error": 1}', {"error": 1}),
        (b'data: {"error": 1}\n\ndata: [DONE]\n\n', {"error": 1}),
        (b'event: error\ndata: {"error": 1}\n\n', {"error": 1}),
        (b"data: [DONE]\n\n", None),
        (b"Bad gateway", None),
    ],
)
def test_the_body_of_an_error_may_be_an_event(body, document):
    assert error_document(body) == document


def test_numbered_errors_have_the_status_that_their_vendor_says():
    document = {"error": {"code": "1302", "message": "Too many requests."}}
    for name in ("openai", "anthropic"):
        assert get(name).stream_error(document).status == 429
