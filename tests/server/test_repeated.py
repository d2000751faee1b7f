"""A head that comes again over its connection."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import ParseException

from engine.server.environ import environ_of
from engine.server.repeated import Head
from engine.server.strict import Requests

PEER = ("10.0.0.1", 4711)
POST = b"POST /v1/a?b=c HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: %b\r\nX-B: 2\r\n\r\n"
GET = b"GET /v1/a HTTP/1.1\r\nHost: h\r\n\r\n"


def post(length: bytes) -> bytes:
    return POST % length


class Source:
    """A caller's socket, by what it gives for one `recv` after another."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    def recv(self, size: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


def told(*pieces: bytes) -> list[dict[str, Any]]:
    """What an application is told of the requests of one connection."""
    found: list[dict[str, Any]] = []
    before = None
    for request in Requests(Config(), Source(*pieces), PEER):
        environ = environ_of({}, request, SimpleNamespace(), PEER, PEER)
        environ["body"] = environ.pop("wsgi.input").read()
        environ["again"] = request.fields is not None and request.fields is before
        before = request.fields
        del environ["gunicorn.socket"]
        found.append(environ)
    return found


def test_it_is_the_same_but_for_its_length() -> None:
    head = Head(post(b"5"))
    assert head.again(post(b"12") + b"hello") == (len(post(b"12")), "12")
    assert head.again(post(b"5")) == (len(post(b"5")), "5")
    assert Head(GET).again(GET + GET) == (len(GET), "")


@pytest.mark.parametrize(
    "other",
    [
        post(b"5").replace(b"X-A: 1", b"X-A: 2"),
        post(b"5").replace(b"X-B: 2", b"X-B: 3"),
        post(b"5").replace(b"\r\n\r\n", b"\r\nX-C: 3\r\n\r\n"),
        post(b"5").replace(b"X-B: 2\r\n", b""),
        post(b"5")[:-2],
        post(b"5")[:20],
        post(b""),
        post(b"-5"),
        post(b"5 "),
        post(b"\xb2"),
        post(b"5\r\nContent-Length: 6"),
        post(b"1" * 18),
        b"",
    ],
)
def test_anything_else_is_another(other: bytes) -> None:
    assert Head(post(b"5")).again(other) is None


def test_a_request_that_comes_again_is_told_of_as_the_first_was() -> None:
    first, second, third = told(post(b"5"), b"hello", post(b"11"), b"hello world", post(b"0"))
    assert [first["again"], second["again"], third["again"]] == [False, True, True]
    assert [first["body"], second["body"], third["body"]] == [b"hello", b"hello world", b""]
    assert second == first | {"again": True, "body": b"hello world", "CONTENT_LENGTH": "11"}


def test_requests_that_come_together_are_told_apart() -> None:
    bodies = [one["body"] for one in told(post(b"2") + b"hi" + post(b"3") + b"you" + GET + GET)]
    assert bodies == [b"hi", b"you", b"", b""]


def test_another_head_is_read_anew() -> None:
    changed = post(b"0").replace(b"X-A: 1", b"X-A: 2")
    assert [one["HTTP_X_A"] for one in told(post(b"0"), changed, post(b"0"))] == ["1", "2", "1"]


def test_a_head_in_pieces_is_read_when_it_is_whole() -> None:
    last = told(post(b"0"), post(b"5")[:30], post(b"5")[30:] + b"hello")[-1]
    assert (last["body"], last["again"]) == (b"hello", False)


def test_what_an_application_does_to_its_environment_is_not_seen_by_the_next() -> None:
    requests = Requests(Config(), Source(GET, GET), PEER)
    environ_of({}, next(requests), None, PEER, PEER)["QUERY_STRING"] = "changed"
    assert environ_of({}, next(requests), None, PEER, PEER)["QUERY_STRING"] == ""


def test_a_body_that_was_not_read_is_no_request() -> None:
    hidden = post(b"0") * 2
    data = post(b"%d" % len(hidden)) + hidden
    assert len(list(Requests(Config(), Source(data[:-9], data[-9:], data, GET), PEER))) == 3


@pytest.mark.parametrize("line", [b"Connection: close", b"Transfer-Encoding: chunked", b"X_Y: 1"])
def test_what_needs_care_gets_it_every_time(line: bytes) -> None:
    data = b"POST / HTTP/1.1\r\nHost: h\r\n" + line + b"\r\n\r\n"
    data += b"0\r\n\r\n" if b"chunked" in line else b""
    config = Config()
    config.set("header_map", "drop")
    requests = list(Requests(config, Source(data, data), PEER))
    assert len(requests) == (1 if b"close" in line else 2)
    assert all(request.head is None or request.should_close() for request in requests)


def test_after_a_head_that_is_known_a_bad_one_is_refused_as_ever() -> None:
    requests = Requests(Config(), Source(post(b"0"), post(b"0") + post(b"5, 5")), PEER)
    next(requests)
    next(requests)
    with pytest.raises(ParseException):
        next(requests)


def test_a_very_long_head_is_not_kept() -> None:
    long = b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X-A: %b\r\n" % (b"x" * 8000) * 2 + b"\r\n"
    assert [one["again"] for one in told(long, long)] == [False, False]
    assert [one["again"] for one in told(GET, GET)] == [False, True]
