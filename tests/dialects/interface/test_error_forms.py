"""The forms in which servers report an error inside an answer."""

import pytest

from engine.dialects import get
from engine.dialects.interface.error_forms import event_error, reported_error, reports_error


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


@pytest.mark.parametrize(
    ("kind", "status"), [("overloaded", 429), ("validation", 422), ("generation", 500), (7, None)]
)
def test_the_type_beside_a_text_says_the_status(kind, status):
    error = reported_error({"error": "It failed.", "error_type": kind})
    assert (error["message"], error.get("status")) == ("It failed.", status)


def test_numbered_errors_have_the_status_that_their_vendor_says():
    document = {"error": {"code": "1302", "message": "Too many requests."}}
    for name in ("openai", "anthropic"):
        assert get(name).stream_error(document).status == 429
