"""The texts of errors."""

import pytest

from engine.dialects.interface.error_texts import (
    error_document,
    error_text,
    message_in,
    provider_text,
)


@pytest.mark.parametrize("error", [{}, {"message": ""}, {"message": None}, {"message": 7}])
def test_an_error_without_a_message_has_a_general_one(error):
    assert message_in(error) == "The request failed."
    assert message_in(error | {"message": "No capacity."}) == "No capacity."


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


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ('{"type":"error","error":{"type":"x","message":"too long"}}', "too long"),
        ('{"error":"{\\"error\\":{\\"message\\":\\"too long\\"}}"}', "too long"),
        ('{"a":1}', '{"a":1}'),
        ('{"error":', '{"error":'),
        ("{" * 2000, "{" * 2000),
        ('x.BadRequestError: X - {"error":{"message":"too long"}}', "too long"),
        ('Error: {"error":"too long"}\nReceived Model Group=m', "too long"),
        ('see {"a":1}', 'see {"a":1}'),
        ('{"a":1', '{"a":1'),
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
