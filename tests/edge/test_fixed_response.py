"""A response that is the same for every request."""

import pytest

from engine.config.routes import Respond
from engine.edge.fixed_response import route_response
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def respond(status, *headers, **body):
    return route_response(Respond(status, headers, body.get("body"), "body" in body))(
        new_exchange()
    )


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("Hello", "text/plain; charset=utf-8", b"Hello"),
        ({"a": [1]}, "application/json", b'{"a":[1]}'),
        (None, "application/json", b"null"),
    ],
)
def test_a_text_is_sent_as_it_is_and_other_values_as_json(body, kind, expected):
    response = respond(200, body=body)
    assert (response.status, response.body) == (200, expected)
    assert response.headers == [("content-type", kind)]


def test_the_config_may_name_the_media_type():
    response = respond(200, ("content-type", "text/html"), body="<p>")
    assert response.headers == [("content-type", "text/html")]


def test_without_a_body_a_redirect_is_empty():
    response = respond(308, ("location", "https://a.test"))
    assert response.body == b""
    assert response.headers == [("location", "https://a.test")]


def test_an_error_without_a_body_is_raised_with_its_headers():
    with pytest.raises(GatewayError) as raised:
        respond(503, ("retry-after", "600"))
    error = raised.value
    assert (error.status, error.code) == (503, "operation_unavailable")
    assert "503 Service Unavailable" in error.message
    assert ("retry-after", "600") in error.headers
    assert ("x-should-retry", "false") in error.headers


def test_an_error_with_a_body_is_the_config_s():
    assert respond(499, body="no").body == b"no"


def test_a_status_without_a_phrase_is_a_number():
    with pytest.raises(GatewayError, match="with 499"):
        respond(499)
