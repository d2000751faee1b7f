"""Reading a WSGI environ."""

import pytest

from engine.exchange.environ_headers import (
    comma_separated,
    environ_key,
    header_elements,
    header_name,
    wants_websocket,
    with_edited_headers,
)
from engine.exchange.exchange import RequestEdits
from tests.support.exchanges import new_exchange

GET = {"REQUEST_METHOD": "GET"}


@pytest.mark.parametrize(
    ("header", "key"),
    [
        *(("x-api-key", "HTTP_X_API_KEY"), ("Content-Type", "CONTENT_TYPE"), ("date", "HTTP_DATE")),
        *(("Api_Key", "HTTP_api_key"), ("x_a-b", "HTTP_x_a-b"), ("Session_ID", "HTTP_SESSION_ID")),
    ],
)
def test_a_header_has_a_wsgi_name(header, key):
    assert environ_key(header) == key


@pytest.mark.parametrize("name", ["x-api-key", "date", "api_key", "x_a-b", "content-type"])
def test_a_wsgi_name_has_a_header(name):
    assert header_name(environ_key(name)) == name


@pytest.mark.parametrize(
    ("header", "elements"), [(None, [""]), ("h2c, WebSocket", ["h2c", "websocket"])]
)
def test_list_elements_are_in_lower_case_and_without_spaces(header, elements):
    assert comma_separated(header) == elements


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (GET, False),
        ({**GET, "HTTP_UPGRADE": "h2c"}, False),
        ({**GET, "HTTP_UPGRADE": "h2c, WebSocket"}, True),
        ({**GET, "HTTP_SEC_WEBSOCKET_KEY": "x"}, True),
        ({"REQUEST_METHOD": "POST", "HTTP_UPGRADE": "websocket"}, False),
    ],
)
def test_a_get_with_an_upgrade_or_a_key_asks_for_a_websocket(environ, expected):
    assert wants_websocket(environ) is expected


@pytest.mark.parametrize(
    ("header", "elements"),
    [
        ("a", ["a"]),
        ("A, b;q=1 ,,c", ["A", "b;q=1", "c"]),
        ('"a, b", c', ["a, b", "c"]),
        (r'"a\"b"', ['a"b']),
        ('"a, b', ['"a', "b"]),
        ('"a, b", c"d, "e', ["a, b", 'c"d, "e']),
        ('"a, b", c"d, \\"e, f', ["a, b", 'c"d', '\\"e', "f"]),
        ('"a, b\\', ['"a', "b\\"]),
        ("", []),
        (" , ", []),
    ],
)
def test_elements_of_a_list_are_as_sent(header, elements):
    assert header_elements(header) == elements


def test_a_request_without_edits_is_the_same_object():
    exchange = new_exchange(environ={"HTTP_X_A": "1"})
    assert with_edited_headers(exchange, ["x-a"]) is exchange


def test_the_named_headers_are_those_after_the_edits():
    exchange = new_exchange(environ={"HTTP_X_A": "1", "HTTP_X_B": "2", "HTTP_X_C": "3"})
    got = []

    def edit(headers):
        got.extend(headers)
        return [("x-b", "new"), ("x-other", "unasked")]

    exchange.edits = RequestEdits(exchange, edit)
    edited = with_edited_headers(exchange, ["x-a", "x-b", "x-missing"])
    assert got == [("x-a", "1"), ("x-b", "2")]
    assert edited.environ == {"HTTP_X_B": "new", "HTTP_X_C": "3"}
    assert exchange.environ == {"HTTP_X_A": "1", "HTTP_X_B": "2", "HTTP_X_C": "3"}
