"""The caller's connection under a worker of gunicorn's own."""

from __future__ import annotations

from typing import Any

import gevent.socket
import pytest
from gunicorn.config import Config
from gunicorn.http.errors import NoMoreData
from gunicorn.http.parser import RequestParser

from engine.exchange.caller_connection import InvalidFraming
from engine.server.gunicorn_connection import GunicornConnection, WSGIAdapter

CHUNKED = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


def connection(data: bytes, sock: Any = None) -> GunicornConnection:
    request = next(RequestParser(Config(), [data], ("127.0.0.1", 1)))
    return GunicornConnection({"gunicorn.socket": sock, "wsgi.input": request.body})


def test_a_body_is_read() -> None:
    assert connection(CHUNKED + b"3\r\nabc\r\n0\r\n\r\n").read(9) == b"abc"


@pytest.mark.parametrize(
    "body", [b"zz\r\n", b"3\r\nabcd\r\n", b"3;\r\r\n", b"0\r\nHost: h\r\n\r\n", b"0\r\nX"]
)
def test_a_body_that_is_badly_framed_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidFraming):
        connection(CHUNKED + body).read(9)


def test_a_body_that_breaks_off_is_a_caller_who_left() -> None:
    with pytest.raises(NoMoreData):
        connection(CHUNKED + b"5\r\nab").read(9)


def test_bytes_after_the_request_are_handed_over_with_the_socket() -> None:
    sock = object()
    data = b"GET / HTTP/1.1\r\nHost: h\r\n\r\nearly"
    assert connection(data, sock).take_over() == (sock, b"early")


def test_after_the_answer_the_rest_of_the_body_is_read_and_the_connection_closed() -> None:
    near, far = gevent.socket.socketpair()
    new_connection = connection(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n", near)
    assert new_connection.close_after()
    far.sendall(b"123456789")
    far.shutdown(1)
    new_connection.linger(1_000)
    assert far.recv(1) == b""
    assert near.recv(1) == b""
    near.close()
    far.close()


def test_a_listener_is_found_by_the_address_of_its_socket() -> None:
    listener = gevent.socket.socket()
    listener.bind(("127.0.0.1", 0))
    addresses = []

    class Application:
        def on_listener(self, address: Any) -> Any:
            addresses.append(address)
            return lambda environ, start_response, connection: [connection.read(1)]

    wrapped = WSGIAdapter(Application())  # type: ignore[arg-type]
    body = next(RequestParser(Config(), [CHUNKED + b"1\r\na\r\n0\r\n\r\n"], ("::1", 1))).body
    environ = {"gunicorn.socket": listener, "wsgi.input": body}
    assert list(wrapped(environ, print)) == [b"a"]
    assert addresses == [listener.getsockname()]
    listener.close()


def test_a_server_that_is_not_gunicorn_has_one_listener() -> None:
    wrapped = WSGIAdapter(lambda environ, start_response: [b"api"])  # type: ignore[arg-type]
    assert list(wrapped({}, print)) == [b"api"]


def test_a_request_of_a_socket_has_no_internal_caller() -> None:
    assert connection(CHUNKED + b"0\r\n\r\n").internal is None
