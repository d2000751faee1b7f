"""How errors in streams and responses are recognised and read."""

import pytest

from engine.dialects.interface.streams import error_in, status_in


@pytest.mark.parametrize(
    ("document", "error"),
    [({"error": {"a": 1}}, {"a": 1}), ({"error": "x"}, None), ({}, None), ([], None)],
)
def test_the_error_object_of_a_document(document, error):
    assert error_in(document) == error


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
