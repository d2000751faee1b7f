"""The headers of a request after the edits of transforms."""

from engine.exchange.edited_headers import with_edited_headers
from engine.exchange.exchange import RequestEdits
from tests.support.exchanges import new_exchange


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
