"""Edits of a response, whatever form its body has. `tests/stages/test_transform.py` has those of
transforms."""

import gzip

import pytest

from engine.exchange.exchange import Response
from engine.exchange.push_stream import Pipeline, PushStream
from engine.transforms.edited_body import edit_response
from engine.values.errors import AbortConnection, GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

EVENTS = b'data: {"a":1}\n\n'


class Editor:
    """Turns every `a` into a `b`."""

    def headers(self, headers):
        return [*headers, ("x-edited", "1")]

    def edits_body(self, method, status, content_type):
        return "audio" not in content_type

    def json(self, text):
        return text.replace(b"a", b"b")

    def outcome(self):
        """Nothing."""

    def settle(self, outcome):
        """Nothing follows."""


def edited(body, kind="application/json", **headers):
    fields = [("content-type", kind), ("content-length", "9"), ("etag", "x"), *headers.items()]
    response = Response(200, fields, body)
    edit_response(new_exchange(), response, Editor())
    return response


@each(
    ("body", "kind", "expected"),
    [
        (b'{"a":1}', "application/json", b'{"b":1}'),
        (EVENTS, "text/event-stream", b'data: {"b":1}\n\n'),
        (iter([b'{"', b'a":1}']), "application/json", b'{"b":1}'),
        (iter([EVENTS[:7], EVENTS[7:]]), "text/event-stream", b'data: {"b":1}\n\n'),
        (PushStream(iter([EVENTS]), Pipeline()), "text/event-stream", b'data: {"b":1}\n\n'),
    ],
)
def test_a_body_is_edited_in_every_form(body, kind, expected):
    response = edited(body, kind)
    data = response.body if isinstance(response.body, bytes) else b"".join(response.body)
    assert data == expected
    assert response.headers == [("content-type", kind), ("x-edited", "1")]


def test_a_body_that_is_not_edited_keeps_its_headers():
    response = edited(b"a", "audio/mpeg")
    assert (response.body, len(response.headers)) == (b"a", 4)


def test_what_follows_from_the_edits_of_a_large_body_ends_the_connection_if_it_fails():
    class Failing(Editor):
        def settle(self, outcome):
            raise GatewayError(503, "store_unavailable", "It cannot be counted.")

    kind = [("content-type", "application/json")]
    small, large = Response(200, kind, b'{"a":1}'), Response(200, kind, iter([b'{"a":1}']))
    with pytest.raises(GatewayError):
        edit_response(new_exchange(), small, Failing())
    edit_response(new_exchange(), large, Failing())
    with pytest.raises(AbortConnection, match="cannot be counted"):
        b"".join(large.body)


def test_a_coding_is_taken_off_or_refused():
    coded = {"content-encoding": "gzip"}
    assert edited(gzip.compress(b'{"a":1}'), **coded).body == b'{"b":1}'
    with pytest.raises(GatewayError, match="cannot be edited"):
        edited(iter([b"x"]), **coded)
