"""How errors in streams and responses are recognised and read."""

import pytest

from engine.dialects.interface.error_forms import message_in, reports_error
from engine.dialects.interface.streams import error_in, status_in


@pytest.mark.parametrize(
    ("document", "reports"),
    [
        ({"type": "error"}, True),
        ({"error": {"message": "x"}}, True),
        ({"error": "text"}, True),
        ({"error": None}, False),
        ({"error": {}}, False),
        ({"object": "error", "message": "x", "code": 500}, True),
        ({"code": 20012, "message": "x", "data": None}, True),
        ({"code": 500, "msg": "x", "success": False}, True),
        ({"code": 200, "message": "ok", "data": None}, False),
        ({"code": 7, "message": "x", "data": {"a": 1}}, False),
        ({"code": 7, "message": "x", "choices": [{}]}, False),
        ({"id": "1", "choices": None, "error": {"message": "x"}}, True),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, True),
        ({"choices": [{}], "base_resp": {"status_code": 0, "status_msg": "success"}}, False),
        ({"type": "message"}, False),
        (["error"], False),
        (None, False),
    ],
)
def test_a_document_reports_an_error(document, reports):
    assert reports_error(document) is reports


@pytest.mark.parametrize(
    ("document", "error"),
    [({"error": {"a": 1}}, {"a": 1}), ({"error": "x"}, None), ({}, None), ([], None)],
)
def test_the_error_object_of_a_document(document, error):
    assert error_in(document) == error


@pytest.mark.parametrize("error", [{}, {"message": ""}, {"message": None}, {"message": 7}])
def test_an_error_without_a_message_has_a_general_one(error):
    assert message_in(error) == "The request failed."
    assert message_in(error | {"message": "No capacity."}) == "No capacity."


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (429, 429),
        ("503", 503),
        (399, None),
        (600, None),
        ("0429", None),
        ("٤٢٩", None),
        (429.0, None),
        (True, None),
        (None, None),
    ],
)
def test_a_status_is_a_number_or_three_digits(value, status):
    assert status_in(value) == status
